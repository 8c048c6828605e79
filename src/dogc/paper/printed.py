"""The numbers that the paper prints, and which of them cannot be right."""

from __future__ import annotations

import functools

from ..datasets import UCI_NAMES, load_uci

Table = dict[str, dict[str, float]]  # data set -> method -> value


def _parse(text: str) -> Table:
    header, *lines = text.strip("\n").splitlines()
    methods = header.split()
    rows = (line.split() for line in lines)
    return {name: dict(zip(methods, map(float, values), strict=True)) for name, *values in rows}


# Table "ACC on Real Datasets".
ACC = _parse("""
              KM   R-cut   N-cut    CLR0    CLR1     NMF     CAN    PCAN    DOGC DOGC-OS
solar     0.5182  0.3498  0.3932  0.2879  0.2879  0.5201  0.5448  0.4396  0.4789  0.6149
vehicle   0.4527  0.4598  0.4598  0.4101  0.4101  0.4433  0.4468  0.4527  0.4276  0.5532
vote      0.8345  0.5701  0.5701  0.6206  0.6206  0.8092  0.8667  0.9218  0.9401  0.9562
ecoli     0.7679  0.5417  0.5476  0.5565  0.5922  0.6101  0.8053  0.8274  0.8125  0.8631
wine      0.7022  0.6180  0.6180  0.5168  0.5168  0.6685  0.9494  0.9940  0.9944  0.9831
glass     0.5561  0.3828  0.3826  0.4392  0.5093  0.3785  0.5000  0.4953  0.6075  0.5981
lenses    0.6250  0.5000  0.5000  0.5000  0.4583  0.6667  0.7624  0.8750  0.8750  0.8750
heart     0.5926  0.6259  0.6296  0.6222  0.6111  0.6296  0.5963  0.7148  0.8556  0.8370
zoo       0.8416  0.5149  0.5149  0.4455  0.4455  0.8020  0.7921  0.8218  0.8916  0.8812
cars      0.4490  0.6301  0.6378  0.6173  0.6173  0.6122  0.6250  0.5791  0.6039  0.6735
auto      0.3659  0.3220  0.3171  0.3610  0.3610  0.3415  0.3463  0.3268  0.4146  0.4488
balance   0.6400  0.5296  0.5264  0.6368  0.6624  0.6656  0.5616  0.5936  0.6823  0.7312
""")

# Table "NMI on Real Datasets".
NMI = _parse("""
              KM   R-cut   N-cut    CLR0    CLR1     NMF     CAN    PCAN    DOGC DOGC-OS
solar     0.4131  0.1884  0.2119  0.2618  0.2618  0.3375  0.3869  0.2549  0.2876  0.4219
vehicle   0.1800  0.1881  0.1928  0.1574  0.1574  0.1369  0.2070  0.0530  0.1980  0.2370
vote      0.3658  0.0745  0.0745  0.1275  0.1275  0.3067  0.4320  0.5888  0.6616  0.6852
ecoli     0.5606  0.5207  0.5210  0.5173  0.4836  0.5045  0.7220  0.7244  0.6425  0.6901
wine      0.8385  0.8562  0.8792  0.3144  0.3144  0.8324  0.8897  0.9425  0.9729  0.9261
glass     0.3575  0.3215  0.2858  0.3266  0.3266  0.2870  0.2691  0.3382  0.3601  0.3575
lenses    0.4696  0.2197  0.1619  0.1619  0.1396  0.3097  0.3977  0.6227  0.6652  0.6652
heart     0.0190  0.0437  0.0482  0.0350  0.0357  0.0494  0.1227  0.1330  0.4042  0.3556
zoo       0.7803  0.5926  0.6119  0.3770  0.3770  0.7483  0.7446  0.7366  0.8168  0.8259
cars      0.1910  0.1948  0.2020  0.2025  0.2025  0.1713  0.2747  0.2686  0.2724  0.2926
auto      0.1090  0.1346  0.1331  0.1690  0.1691  0.0285  0.0426  0.0703  0.2257  0.2074
balance   0.2966  0.1469  0.1432  0.0922  0.1147  0.2259  0.1510  0.1221  0.2831  0.3093
""")

# Table "Performance of DOGC-I, DOGC-II and DOGC-OS on five UCI datasets".
ABLATION_ACC = _parse("""
          DOGC-I DOGC-II DOGC-OS
wine      0.9752  0.9752  0.9831
solar     0.5627  0.6111  0.6149
vehicle   0.4785  0.5532  0.5532
vote      0.9382  0.9494  0.9562
ecoli     0.7981  0.8251  0.8631
""")
ABLATION_NMI = _parse("""
          DOGC-I DOGC-II DOGC-OS
wine      0.8750  0.8989  0.9261
solar     0.3998  0.4169  0.4219
vehicle   0.1980  0.2261  0.2370
vote      0.7364  0.6784  0.6852
ecoli     0.5742  0.5898  0.6901
""")

# Tables "ACC on training part" and "ACC on testing part of five datasets".
TRAIN_ACC = _parse("""
              KM     DKM      SC      LL    CLGR     SEC DOGC-OS
solar     0.4568  0.5679  0.4444  0.4074  0.5370  0.5802  0.6147
vehicle   0.4539  0.4539  0.4941  0.5532  0.5177  0.4681  0.5626
vote      0.7844  0.8624  0.8394  0.8716  0.8440  0.7936  0.9309
ecoli     0.6488  0.6667  0.3631  0.4286  0.5179  0.6429  0.8333
wine      0.7079  0.7079  0.7079  0.5843  0.7079  0.7416  0.9326
""")
TEST_ACC = _parse("""
              KM     DKM      SC      LL    CLGR     SEC DOGC-OS
solar     0.5155  0.5466  0.3043  0.5217  0.6025  0.5776  0.6089
vehicle   0.4468  0.4586  0.3877  0.5272  0.4894  0.4539  0.5302
vote      0.8065  0.8433  0.7926  0.8986  0.8525  0.8111  0.9401
ecoli     0.7321  0.7262  0.6548  0.7202  0.6726  0.7381  0.7738
wine      0.7079  0.7079  0.6292  0.5393  0.7753  0.6966  0.9326
""")

OURS = ("DOGC", "DOGC-OS")
MAIN_METHODS = tuple(ACC["wine"])
ABLATIONS = tuple(ABLATION_ACC["wine"])
OUT_OF_SAMPLE_METHODS = tuple(TEST_ACC["wine"])
FIVE = tuple(TEST_ACC)

# The paper counts one row less of these than the files have.
PAPER_ROWS = {"solar": 322, "vote": 434}


def is_share_of(value: float, n: int) -> bool:
    """Whether a printed accuracy, rounded or cut, can be a number of right rows out of n.

    Examples
    --------
    >>> is_share_of(0.5, 24), is_share_of(0.7624, 24)
    (True, False)
    """
    return abs(round(value * n) / n - value) < 1e-4


@functools.cache
def doubts() -> dict[tuple[str, str], str]:
    """Entries of the ACC table that cannot be right as printed, with the reason."""
    found = {}
    for name in UCI_NAMES:
        n = len(load_uci(name).target)
        counts = {n, PAPER_ROWS.get(name, n)}
        for method, value in ACC[name].items():
            if not any(is_share_of(value, count) for count in counts):
                sizes = " or ".join(f"1/{count}" for count in sorted(counts))
                found[name, method] = f"no multiple of {sizes}"
            elif not is_share_of(value, n):
                found[name, method] = f"a multiple of 1/{PAPER_ROWS[name]}, not of 1/{n}"
    for method in ("KM", "R-cut", "N-cut", "NMF"):
        found["wine", method] = "ACC of unscaled data beside NMI of scaled data"
    return found
