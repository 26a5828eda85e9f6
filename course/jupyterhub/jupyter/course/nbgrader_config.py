"""nbgrader in the course's server: the course's own settings, and where the exchange is."""

import os

config = get_config()  # noqa: F821 (nbgrader's loader provides it)

load_subconfig(  # noqa: F821 (likewise)
    "nbgrader_config.py", path=os.path.join(os.environ["BERTLAB_COURSE"], "course")
)
config.Exchange.root = os.environ["BERTLAB_EXCHANGE"]
config.ExchangeFactory.collect = "course.jupyterhub.collecting.CollectOwned"
config.FormgradeExtension.debug = False  # its first page would show the gradebook's address
