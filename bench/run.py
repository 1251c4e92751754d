"""Measures whole runs; see bench/run.sh."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

BIN = os.path.abspath(sys.argv[1])
STRANDLINE = os.path.join(BIN, "strandline")
TICKS = os.sysconf("SC_CLK_TCK")


def suite(directory, trials, session):
    """Writes a suite of one-call cases with `trials` trials in all."""
    full, rest = divmod(trials, 100)
    counts = [100] * full + ([rest] if rest else [])
    cases = [
        {
            "id": f"c{number}",
            "title": f"Echo {number}",
            "iterations": count,
            "steps": [
                {"id": "ask", "kind": "prompt", "prompt": "Say hello."},
                {
                    "id": "called",
                    "kind": "assert",
                    "assertion": {"type": "toolCalledWith", "toolName": "echo", "args": {"args": {"text": "hello"}}},
                },
            ],
            "assertions": [{"type": "responseContains", "needle": "Done"}],
        }
        for number, count in enumerate(counts)
    ]
    path = os.path.join(directory, f"suite-{session}-{trials}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(
            {
                "schemaVersion": "2",
                "mode": "agentWorkflow",
                "reportingMode": "standard",
                "suite": {"id": "s_bench", "name": "Bench"},
                "target": {"servers": [{"name": "echo"}]},
                "mcpServers": {"echo": {"command": os.path.join(BIN, "strandline-echo-mcp")}},
                "execution": {"session": session},
                "defaults": {"model": "openai/bench", "iterations": 1, "passThreshold": 1, "validity": {}},
                "cases": cases,
            },
            file,
        )
    return path


def own_ticks(pid):
    """CPU ticks of the process itself, its children left out."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def run(directory, base_url, trials, session, concurrency):
    """Runs a suite; returns wall seconds and our own CPU seconds."""
    command = [
        STRANDLINE, "run", suite(directory, trials, session), "--quiet",
        "--concurrency", str(concurrency), "--model-base-url", base_url,
        "--store", os.path.join(directory, "bench.db"),
    ]
    environment = dict(os.environ, OPENAI_API_KEY="none")
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    ticks = 0
    while process.poll() is None:
        try:
            ticks = own_ticks(process.pid)
        except (OSError, IndexError):
            pass
        time.sleep(0.003)
    wall = time.monotonic() - started
    if process.returncode != 0:
        sys.exit(f"the run ended with {process.returncode}: {process.stderr.read().decode()[-2000:]}")
    return wall, ticks / TICKS


def endpoint(latency):
    process = subprocess.Popen(
        [os.path.join(BIN, "strandline-fake-model"),
         "--latency-ms", str(latency), "--tool", "echo", "--arguments", '{"text":"hello"}', "--text", "Done."],
        stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def main():
    starts = []
    for _ in range(30):
        began = time.monotonic()
        subprocess.run([STRANDLINE, "--version"], check=True, stdout=subprocess.DEVNULL)
        starts.append((time.monotonic() - began) * 1000)
    print(f"start of the binary          {statistics.median(starts):8.2f} ms (median of 30)")
    with tempfile.TemporaryDirectory() as directory:
        model, url = endpoint(0)
        try:
            for session, trials in (("shared", 4000), ("fresh", 1000)):
                rounds = []
                for _ in range(3):
                    _, base = run(directory, url, 1, session, 8)
                    wall, cpu = run(directory, url, trials, session, 8)
                    rounds.append((wall, 1000 * (cpu - base) / (trials - 1)))
                wall = statistics.median(wall for wall, _ in rounds)
                cpu = statistics.median(cpu for _, cpu in rounds)
                print(f"{session:6} session, concurrency 8 {cpu:7.3f} ms of our own CPU per trial, "
                      f"{trials / wall:7.0f} trials per second ({trials} trials, median of 3)")
        finally:
            model.kill()
        model, url = endpoint(200)
        try:
            trials = 4000
            wall, _ = run(directory, url, trials, "shared", 200)
            ideal = trials * 2 * 0.2 / 200
            print(f"200 ms latency, concurrency 200 {100 * ideal / wall:5.1f} % of the ideal "
                  f"({wall:.2f} s for {trials} trials, ideal {ideal:.2f} s)")
        finally:
            model.kill()


main()
