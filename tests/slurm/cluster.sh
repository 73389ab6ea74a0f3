#!/usr/bin/env bash
# A SLURM cluster of two nodes on this host, for tests:
#
#   eval "$(tests/slurm/cluster.sh up [DIR])"   start it; it prints the `export` lines that a shell needs to use it
#   tests/slurm/cluster.sh down [DIR]           end its jobs and daemons and remove DIR
#   tests/slurm/cluster.sh install              install what `up` needs, as `up` itself does
#
# Everything lives in DIR (default: $TMPDIR/faithfuse-slurm): keys, configuration, state, logs, process ids. No systemd and
# no accounting. `up` installs Debian's slurm-wlm and munge when they are missing, takes down an earlier cluster of the same
# DIR, and needs root: for apt, and for mknod. Each node has one GPU as far as SLURM is concerned: a character device that
# does nothing, so that requests for GPUs are scheduled for real where there is none.
set -euo pipefail

action="${1:-}"
dir="${2:-${TMPDIR:-/tmp}/faithfuse-slurm}"

fail() {
    echo "cluster.sh: $1" >&2
    exit "${2:-1}"
}

# A daemon's process, if it is running and still the program that wrote the file.
process() {
    local file="$dir/$1.pid" pid
    [ -s "$file" ] || return 1
    pid="$(cat "$file")"
    grep -qa "$dir" "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

stop() {
    local pid
    pid="$(process "$1")" || return 0
    kill "$pid" 2>/dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

down() {
    [ -e "$dir" ] || return 0
    [ -e "$dir/slurm.conf" ] || fail "$dir is not a cluster of this script; remove it yourself if it is of no use"
    export SLURM_CONF="$dir/slurm.conf"
    if process slurmctld >/dev/null && process munged >/dev/null; then
        timeout 10 scancel --user="$(id -un)" 2>/dev/null || true
        for _ in $(seq 50); do
            [ -n "$(timeout 5 squeue --noheader --states=running,completing 2>/dev/null)" ] || break
            sleep 0.2
        done
    fi
    stop slurmd.n1
    stop slurmd.n2
    stop slurmctld
    stop munged
    rm -rf "$dir"
}

install_packages() {
    command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null && return
    command -v apt-get >/dev/null || fail "SLURM is not installed, and there is no apt-get to install it with" 3
    (
        # The packages start daemons of their own where they can; those are not wanted.
        export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends slurm-wlm munge
    ) >&2 || fail "apt-get could not install slurm-wlm and munge" 3
}

free_ports() {
    python3 - "$1" <<'PYTHON'
import socket
import sys

held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(server.getsockname()[1] for server in held))
PYTHON
}

configure() {
    local host cores memory controller first second
    host="$(hostname -s)"
    # Half of the machine's memory for each node; processors are shared, so that a job that asks for several is scheduled.
    cores=4
    memory=$(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) / 1024 / 2))
    read -r controller first second <<<"$(free_ports 3)"
    mkdir -p "$dir"/{state,spool.n1,spool.n2,log,devices,bin}
    chmod 755 "$dir"
    head -c 1024 /dev/urandom >"$dir/munge.key"
    chmod 400 "$dir/munge.key"
    mknod "$dir/devices/gpu1" c 1 3
    mknod "$dir/devices/gpu2" c 1 3
    # Snakemake's executor clears SLURM_CONF, like all of SLURM's variables, before it calls srun within a job.
    cat >"$dir/bin/srun" <<SRUN
#!/bin/sh
SLURM_CONF=$dir/slurm.conf exec $(PATH="${PATH//$dir\/bin:/}" command -v srun) "\$@"
SRUN
    chmod 755 "$dir/bin/srun"
    cat >"$dir/gres.conf" <<CONF
AutoDetect=off
NodeName=n1 Name=gpu File=$dir/devices/gpu1
NodeName=n2 Name=gpu File=$dir/devices/gpu2
CONF
    cat >"$dir/slurm.conf" <<CONF
ClusterName=faithfuse
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_LLN
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=2,sched_interval=2
GresTypes=gpu
MinJobAge=600
KillWait=5
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$first CPUs=$cores RealMemory=$memory Gres=gpu:1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$second CPUs=$cores RealMemory=$memory Gres=gpu:1
PartitionName=cpu Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=n1,n2 MaxTime=INFINITE State=UP
CONF
}

start() {
    # Folders above DIR may be closed to others, which munged minds unless forced.
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
        --log-file="$dir/log/munged.log" --seed-file="$dir/munge.seed" >&2
    export SLURM_CONF="$dir/slurm.conf"
    slurmctld -f "$SLURM_CONF" >&2
    slurmd -f "$SLURM_CONF" -N n1 >&2
    slurmd -f "$SLURM_CONF" -N n2 >&2
    for _ in $(seq 150); do
        [ "$(timeout 5 sinfo --noheader --partition=cpu --states=idle --format=%D 2>/dev/null)" = 2 ] && return
        sleep 0.2
    done
    tail -n 20 "$dir"/log/*.log >&2
    fail "the nodes did not come up; the ends of their logs are above"
}

install() {
    [ "$(id -u)" = 0 ] || fail "a test cluster needs root" 3
    install_packages
}

up() {
    install
    down
    trap 'down || true' EXIT
    configure
    start
    trap - EXIT
    echo "export SLURM_CONF=$dir/slurm.conf PATH=$dir/bin:\$PATH"
}

case "$action" in
up | down | install) "$action" ;;
*) fail "say up, down or install, and the folder if it is not to be $dir" 2 ;;
esac
