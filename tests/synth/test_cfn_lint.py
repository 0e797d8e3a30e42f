"""CloudFormation's own rules, offline."""

import subprocess


def test_no_template_is_refused(cfn_lint: "subprocess.Popen[str]") -> None:
    assert cfn_lint.communicate()[0] == ""
