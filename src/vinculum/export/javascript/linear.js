// Linear equations for the methods of integration: small dense matrices, row by row in one array.

// A = L U with row exchanges, in place; false if a pivot is zero or not finite.
function factor(A, n, rows) {
  for (let i = 0; i < n; i += 1) rows[i] = i;
  for (let k = 0; k < n; k += 1) {
    let best = k;
    for (let i = k + 1; i < n; i += 1) if (Math.abs(A[i * n + k]) > Math.abs(A[best * n + k])) best = i;
    const pivot = A[best * n + k];
    if (!(Math.abs(pivot) > 0 && Number.isFinite(pivot))) return false;
    if (best !== k) {
      for (let j = 0; j < n; j += 1) [A[k * n + j], A[best * n + j]] = [A[best * n + j], A[k * n + j]];
      [rows[k], rows[best]] = [rows[best], rows[k]];
    }
    for (let i = k + 1; i < n; i += 1) {
      const share = A[i * n + k] / pivot;
      A[i * n + k] = share;
      if (share !== 0) for (let j = k + 1; j < n; j += 1) A[i * n + j] -= share * A[k * n + j];
    }
  }
  return true;
}

// x of A x = b
function solveFactored(A, n, rows, b, x) {
  for (let i = 0; i < n; i += 1) {
    let sum = b[rows[i]];
    for (let j = 0; j < i; j += 1) sum -= A[i * n + j] * x[j];
    x[i] = sum;
  }
  for (let i = n - 1; i >= 0; i -= 1) {
    let sum = x[i];
    for (let j = i + 1; j < n; j += 1) sum -= A[i * n + j] * x[j];
    x[i] = sum / A[i * n + i];
  }
}

function norm(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += values[i] * values[i];
  return Math.sqrt(sum);
}

// The shortest d with J d = f for the rows of J (m, n) scaled to unit length; rows that depend on others by less than
// 1e-10 are left out. By the method of Gram and Schmidt, each row made orthogonal twice.
function leastChange(J, m, n, f, d) {
  const basis = [], shares = [];
  d.fill(0);
  for (let i = 0; i < m; i += 1) {
    const row = J.slice(i * n, (i + 1) * n);
    const length = norm(row);
    if (!(length > 0)) continue;
    let right = f[i] / length;
    for (let j = 0; j < n; j += 1) row[j] /= length;
    for (let pass = 0; pass < 2; pass += 1) {
      for (let k = 0; k < basis.length; k += 1) {
        let share = 0;
        for (let j = 0; j < n; j += 1) share += basis[k][j] * row[j];
        for (let j = 0; j < n; j += 1) row[j] -= share * basis[k][j];
        right -= share * shares[k];
      }
    }
    const rest = norm(row);
    if (rest <= 1e-10) continue;
    for (let j = 0; j < n; j += 1) row[j] /= rest;
    basis.push(row);
    shares.push(right / rest);
  }
  for (let k = 0; k < basis.length; k += 1) for (let j = 0; j < n; j += 1) d[j] += shares[k] * basis[k][j];
}
