"""Hypothesis profiles for suites that test programs. They are registered by `register` or `load`.

| profile | examples | which                                  | for                                       |
|---------|----------|----------------------------------------|-------------------------------------------|
| `ci`    | 200      | the same in every run                  | reproducible results                       |
| `dev`   | 50       | new ones each time                     | a quick check during development           |
| `soak`  | 10,000   | new ones each time, slow ones included | a long run that finds rare failures        |

No profile has a deadline: the first program loads the modules for all others, and a compiler is slow.

    from refmlc.testing import profiles

    profiles.load(os.environ.get("MY_PROFILE", "ci"))
"""

from hypothesis import HealthCheck, settings

NAMES = ("ci", "dev", "soak")


def hypothesis_name(name: str) -> str:
    """The name of a profile in Hypothesis, which has a `ci` profile already and activates it on CI machines."""
    return f"refmlc-{name}"


def register() -> None:
    """Register the three profiles as `refmlc-ci` and so on; the active profile stays active."""
    default = settings.get_profile("default")  # without it, a profile inherits from the active one
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings.register_profile(
        hypothesis_name("ci"), default, max_examples=200, deadline=None, derandomize=True, print_blob=True
    )
    settings.register_profile(hypothesis_name("dev"), default, max_examples=50, deadline=None)
    settings.register_profile(
        hypothesis_name("soak"), default, max_examples=10_000, deadline=None, suppress_health_check=slow
    )


def load(name: str) -> None:
    """Register the profiles and activate `name`. Fails: ValueError for any other name."""
    if name not in NAMES:
        raise ValueError(f"there is no profile {name!r}; the profiles: {', '.join(NAMES)}")
    register()
    settings.load_profile(hypothesis_name(name))
