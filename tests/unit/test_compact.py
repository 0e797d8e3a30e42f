"""Which Hudi tables a request for compaction means."""

import pytest

from lake.config.errors import BadInput
from lake.config.names import named_targets

BOTH = [{"type": "cow"}, {"type": "mor"}]
PIPELINE = {
    "tables": [
        {"database": "moma", "schema": "public", "table": "artists", "targets": BOTH},
        {"database": "moma", "schema": "public", "table": "artworks", "targets": BOTH},
        {"database": "shop", "schema": "sales", "table": "orders", "targets": [{"type": "mor"}]},
    ]
}


@pytest.mark.parametrize(
    ("names", "targets"),
    [
        (["shop"], ["shop_mor.orders"]),
        (["moma.artworks"], ["moma_cow.artworks", "moma_mor.artworks"]),
        (["shop.sales.orders", "moma.public.artworks"], ["moma_cow.artworks", "moma_mor.artworks", "shop_mor.orders"]),
        (["shop", "shop.orders"], ["shop_mor.orders"]),
        ([], ["moma_cow.artists", "moma_mor.artists", "moma_cow.artworks", "moma_mor.artworks", "shop_mor.orders"]),
    ],
)
def test_names(names: list[str], targets: list[str]) -> None:
    assert named_targets(PIPELINE, names) == targets


@pytest.mark.parametrize(
    "name", ["moma.artist", "artists", "moma_mor.artists", "moma.sales.artists", "public.artists", ""]
)
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="choose from: moma"):
        named_targets(PIPELINE, [name])


def test_a_lake_without_tables_says_so() -> None:
    with pytest.raises(BadInput, match="lake apply"):
        named_targets({}, [])
