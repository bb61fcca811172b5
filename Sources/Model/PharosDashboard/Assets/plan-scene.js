// The marks of a plan and how they move: numbers only, so that a picture costs only its drawing.

/** Marks by key; each goes smoothly to where it belongs. */
export class Scene {
  marks = new Map();
  #ease;
  #near;

  /**
   * `ease` is the time in s in which a mark makes two thirds of its way to where it belongs; nearer than `near`, pixels or
   * metres as the scene has them, it has arrived.
   */
  constructor(ease = 0.16, near = 0.15) {
    this.#ease = ease;
    this.#near = near;
  }

  /** Says where a mark belongs, in pixels or metres; a new one appears there at once. */
  aim(key, x, y, look) {
    let mark = this.marks.get(key);
    if (!mark) {
      mark = { key, x, y, toX: x, toY: y, shown: 0, look, isGone: false };
      this.marks.set(key, mark);
      return mark;
    }
    mark.toX = x;
    mark.toY = y;
    mark.look = look;
    mark.isGone = false;
    return mark;
  }

  /** Lets every mark fade that is not among the keys. */
  keep(keys) {
    for (const mark of this.marks.values()) if (!keys.has(mark.key)) mark.isGone = true;
  }

  /** Puts all marks where they belong, as after a change of size. */
  arrive() {
    for (const mark of this.marks.values()) {
      mark.x = mark.toX;
      mark.y = mark.toY;
    }
  }

  /** Moves all marks by so many seconds; true while something still moves. */
  step(span) {
    const share = 1 - Math.exp(-span / this.#ease);
    let moves = false;
    for (const mark of this.marks.values()) {
      const dx = mark.toX - mark.x;
      const dy = mark.toY - mark.y;
      if (Math.abs(dx) > this.#near || Math.abs(dy) > this.#near) {
        mark.x += dx * share;
        mark.y += dy * share;
        moves = true;
      } else {
        mark.x = mark.toX;
        mark.y = mark.toY;
      }
      const wanted = mark.isGone ? 0 : 1;
      if (mark.shown !== wanted) {
        mark.shown = Math.abs(wanted - mark.shown) < 0.02 ? wanted : mark.shown + (wanted - mark.shown) * share;
        moves = true;
      }
      if (mark.isGone && mark.shown === 0) this.marks.delete(mark.key);
    }
    return moves;
  }

  /** The mark nearest to a point within some reach, or null. */
  nearest(x, y, reach) {
    let best = null;
    let minimum = reach * reach;
    for (const mark of this.marks.values()) {
      const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (distance <= minimum && !mark.isGone) {
        minimum = distance;
        best = mark;
      }
    }
    return best;
  }
}

/**
 * Keeps a slot for each of a place's marks: who stays keeps its slot when others come and go.
 */
export class Slots {
  #slotOf = new Map();
  #free = [];
  #next = 0;

  /** How many slots are in use or were. */
  get size() {
    return this.#next;
  }

  /** Follows a set of keys, or the keys of a map. */
  follow(keys) {
    for (const [key, slot] of this.#slotOf) {
      if (keys.has(key)) continue;
      this.#slotOf.delete(key);
      this.#free.push(slot);
    }
    for (const key of keys.keys()) {
      if (this.#slotOf.has(key)) continue;
      this.#slotOf.set(key, this.#free.length ? this.#free.pop() : this.#next++);
    }
    if (!this.#slotOf.size) {
      this.#free = [];
      this.#next = 0;
    }
  }

  /** The slot of a key. */
  slot(key) {
    return this.#slotOf.get(key) ?? 0;
  }
}
