// Where the places of a plan stand: a grid in which neighbours stand side by side, the same each time.

/** How many rounds of exchanging cells are tried; each round must make the plan better or it is the last. */
const rounds = 12;

/**
 * Gives each place a cell `{ column, row }`.
 *
 * `places` are `{ id, adjacent }`; at most `columns` stand side by side. Places without neighbours fill rows in their order.
 */
export function arrange(places, columns) {
  const ids = new Set(places.map((place) => place.id));
  const edges = edgesOf(places, ids);
  if (!edges.size) return flow(places, columns);
  const grid = new Grid(columns, edges);
  for (const id of breadthFirst(places, edges)) grid.occupy(id);
  if (places.length <= 80) grid.improve();
  return grid.cells();
}

function edgesOf(places, ids) {
  const edges = new Map();
  const link = (from, to) => {
    if (!edges.has(from)) edges.set(from, new Set());
    edges.get(from).add(to);
  };
  for (const place of places) {
    for (const other of place.adjacent ?? []) {
      if (!ids.has(other) || other === place.id) continue;
      link(place.id, other);
      link(other, place.id);
    }
  }
  return edges;
}

function flow(places, columns) {
  const wide = Math.min(columns, places.length);
  return new Map(places.map((place, index) => [place.id, { column: index % wide, row: Math.floor(index / wide) }]));
}

/** All places, from the one with most neighbours outwards. */
function breadthFirst(places, edges) {
  const degree = (id) => edges.get(id)?.size ?? 0;
  const left = places.map((place) => place.id).sort((a, b) => degree(b) - degree(a) || (a < b ? -1 : 1));
  const order = [];
  const seen = new Set();
  for (const first of left) {
    const queue = seen.has(first) ? [] : [first];
    seen.add(first);
    while (queue.length) {
      const id = queue.shift();
      order.push(id);
      const next = [...(edges.get(id) ?? [])].filter((other) => !seen.has(other));
      next.sort((a, b) => degree(b) - degree(a) || (a < b ? -1 : 1));
      for (const other of next) {
        seen.add(other);
        queue.push(other);
      }
    }
  }
  return order;
}

class Grid {
  #columns;
  #edges;
  #cellOf = new Map();
  #idAt = new Map();

  constructor(columns, edges) {
    this.#columns = columns;
    this.#edges = edges;
  }

  /** Puts a place into the free cell that is nearest to its neighbours and to the middle. */
  occupy(id) {
    let best = null;
    for (const cell of this.#candidates()) {
      const cost = this.#cost(id, cell) + 0.01 * (Math.abs(cell.column) * 0.7 + Math.abs(cell.row));
      if (!best || cost < best.cost) best = { cell, cost };
    }
    this.#put(id, best.cell);
  }

  /** Exchanges cells, taken or free, as long as that brings neighbours together. */
  improve() {
    for (let round = 0; round < rounds; round += 1) {
      let isBetter = false;
      for (const id of [...this.#cellOf.keys()]) {
        for (const cell of [...this.#cellOf.values(), ...this.#candidates()]) {
          if (this.#tryMove(id, cell)) isBetter = true;
        }
      }
      if (!isBetter) return;
    }
  }

  /** The cells, counted from zero. */
  cells() {
    const all = [...this.#cellOf.values()];
    const left = Math.min(...all.map((cell) => cell.column));
    const top = Math.min(...all.map((cell) => cell.row));
    return new Map([...this.#cellOf].map(([id, cell]) => [id, { column: cell.column - left, row: cell.row - top }]));
  }

  #tryMove(id, cell) {
    const from = this.#cellOf.get(id);
    if (from.column === cell.column && from.row === cell.row) return false;
    const other = this.#idAt.get(key(cell));
    const before = this.#cost(id, from) + (other ? this.#cost(other, cell) : 0);
    this.#swap(id, from, other, cell);
    const after = this.#cost(id, cell) + (other ? this.#cost(other, from) : 0);
    if (after < before - 1e-9 && this.#isNarrow()) return true;
    this.#swap(id, cell, other, from);
    return false;
  }

  #swap(id, from, other, to) {
    this.#idAt.delete(key(from));
    this.#put(id, to);
    if (other) this.#put(other, from);
  }

  #put(id, cell) {
    this.#cellOf.set(id, cell);
    this.#idAt.set(key(cell), id);
  }

  /** How far a place would be from its neighbours: nothing beside them, more the farther, most across a corner. */
  #cost(id, cell) {
    let cost = 0;
    for (const other of this.#edges.get(id) ?? []) {
      const at = this.#cellOf.get(other);
      if (!at) continue;
      const across = Math.abs(at.column - cell.column);
      const down = Math.abs(at.row - cell.row);
      cost += across + down - 1 + (across && down ? 0.4 : 0);
    }
    return cost;
  }

  #isNarrow() {
    const all = [...this.#cellOf.values()].map((cell) => cell.column);
    return Math.max(...all) - Math.min(...all) < this.#columns;
  }

  #candidates() {
    if (!this.#cellOf.size) return [{ column: 0, row: 0 }];
    const inUse = [...this.#cellOf.values()];
    const left = Math.min(...inUse.map((cell) => cell.column));
    const right = Math.max(...inUse.map((cell) => cell.column));
    const free = new Map();
    for (const { column, row } of inUse) {
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        const cell = { column: column + dx, row: row + dy };
        const isNarrow = Math.max(right, cell.column) - Math.min(left, cell.column) < this.#columns;
        if (isNarrow && !this.#idAt.has(key(cell))) free.set(key(cell), cell);
      }
    }
    return [...free.values()];
  }
}

function key(cell) {
  return `${cell.column},${cell.row}`;
}
