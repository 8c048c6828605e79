"""Every method of the paper on one data set, with and without a known truth."""

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from dogc import compare

X, cultivar = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)

print("the cultivars are known:")
print(compare(X, n_clusters=3, y=cultivar))

print("\nthey are not: which methods agree with each other?")
table = compare(X, n_clusters=3, methods=["KM", "N-cut", "CLR1", "CAN", "DOGC"])
print(table)
best = max(table, key=lambda row: row.agreement)
print(f"\nthe most agreed with: {best.method}, mean ARI {best.agreement:.2f} with the others")
