"""Checksums, signatures and manifests."""
