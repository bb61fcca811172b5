"""Prometheus's own checker accepts what the server measures.

    python3 Tests/SystemTests/metrics.py .build/release/pharos
"""

import argparse
import http.client
import shutil
import subprocess
import sys

from harness import Radio, Server, advert, region_site


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    arguments = parser.parse_args()
    promtool = shutil.which("promtool")
    if promtool is None:
        print("skipped: promtool is not installed (Debian's package is called prometheus)")
        return

    server = Server(arguments.binary, region_site(2))
    server.start()
    radio = Radio(server)
    radio.hear("handset", [advert(1, 1)])
    radio.socket.sendto(b"this is no datagram of any format", radio.address)
    # The answer to a question about a state comes behind what was sent before it.
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 200, text
    assert answer.getheader("Content-Type", "").startswith("text/plain"), answer.getheader("Content-Type")
    result = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    server.stop()
    sys.stderr.write(result.stdout + result.stderr)
    assert result.returncode == 0, "promtool does not accept the metrics"
    families = sum(line.startswith("# TYPE") for line in text.splitlines())
    print(f"promtool accepts {families} metrics")


if __name__ == "__main__":
    main()
