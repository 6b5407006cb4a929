"""The families of control problems, by name."""

from labeling.simulators.controllers.families.alarm import ALARM
from labeling.simulators.controllers.families.batch import BATCH
from labeling.simulators.controllers.families.dosing import DOSING
from labeling.simulators.controllers.families.elevator import ELEVATOR
from labeling.simulators.controllers.families.heating import HEATING
from labeling.simulators.controllers.families.press import PRESS
from labeling.simulators.controllers.families.pumps import PUMPS
from labeling.simulators.controllers.families.sorter import SORTER
from labeling.simulators.controllers.families.star_delta import STAR_DELTA
from labeling.simulators.controllers.families.start_stop import START_STOP
from labeling.simulators.controllers.families.tank import TANK
from labeling.simulators.controllers.families.traffic import TRAFFIC
from labeling.simulators.controllers.spec import Family

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        START_STOP,
        TANK,
        PUMPS,
        SORTER,
        TRAFFIC,
        ALARM,
        STAR_DELTA,
        BATCH,
        ELEVATOR,
        PRESS,
        DOSING,
        HEATING,
    )
}
