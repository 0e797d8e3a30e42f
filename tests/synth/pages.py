"""Writes docs/environments/<name>.md for each shipped environment: python -m tests.synth.pages (make pages)."""

from lake.aws.cost import estimate, load_prices
from lake.aws.environment import load_aws_environment
from tests.synth.environment_page import page
from tests.synth.synthesis import ENVIRONMENTS, ROOT, scrubbed, synthesize

FOLDER = ROOT / "docs/environments"


def page_of(name: str) -> str:
    environment = load_aws_environment(ROOT, name)
    templates = {part: scrubbed(template) for part, template in synthesize(name).templates.items()}
    return page(name, environment.region, templates, estimate(environment, load_prices()))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in ENVIRONMENTS:
        (FOLDER / f"{name}.md").write_text(page_of(name), encoding="utf-8")
        print(f"docs/environments/{name}.md")


if __name__ == "__main__":
    main()
