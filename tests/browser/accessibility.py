"""axe in the browser: what keeps people with a keyboard or a screen reader from a page."""

from axe_playwright_python.sync_playwright import Axe


def serious_violations(page) -> list[str]:
    """What axe calls serious or critical on the page as it is now, a line for each element.

    preload: axe would ask for style sheets again, which a page from a file may not.
    """
    return [
        f"{found['id']}: {found['help']}: {' '.join(map(str, node['target']))}: {node['html']}"
        for found in Axe().run(page, options={"preload": False}).response["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]
