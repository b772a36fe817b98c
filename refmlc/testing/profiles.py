"""Hypothesis profiles for suites that test programs. Nothing is registered until it is asked for.

| profile | examples | which                                  | for                                       |
|---------|----------|----------------------------------------|-------------------------------------------|
| `ci`    | 200      | the same in every run                  | everybody sees what everybody sees         |
| `dev`   | 50       | new ones each time                     | a quick look while something is changed    |
| `soak`  | 10,000   | new ones each time, slow ones included | the long run that finds what is rare       |

No profile has a deadline: the first program pays for what the others find loaded, and a compiler takes its time.

    from refmlc.testing import profiles

    profiles.load(os.environ.get("MY_PROFILE", "ci"))
"""

from hypothesis import HealthCheck, settings

NAMES = ("ci", "dev", "soak")


def registered(name: str) -> str:
    """The name under which Hypothesis knows a profile: it has a `ci` of its own, which is in force on CI machines."""
    return f"refmlc-{name}"


def register() -> None:
    """Make the three profiles known to Hypothesis, as `refmlc-ci` and so on; the one in force stays in force."""
    usual = settings.get_profile("default")  # a profile inherits from the one that counts, unless another is named
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings.register_profile(
        registered("ci"), usual, max_examples=200, deadline=None, derandomize=True, print_blob=True
    )
    settings.register_profile(registered("dev"), usual, max_examples=50, deadline=None)
    settings.register_profile(registered("soak"), usual, max_examples=10_000, deadline=None, suppress_health_check=slow)


def load(name: str) -> None:
    """Register the profiles and make `name` the one that counts. Fails: ValueError for a name that is none of them."""
    if name not in NAMES:
        raise ValueError(f"there is no profile {name!r}; the profiles: {', '.join(NAMES)}")
    register()
    settings.load_profile(registered(name))
