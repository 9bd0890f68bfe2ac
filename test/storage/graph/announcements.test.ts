import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Announcements } from "../../../src/storage/graph/oxigraph/index.js";

describe("announcements of commits", () => {
  const logged: number[] = [];
  let announcements: Announcements;
  beforeEach(() => {
    vi.useFakeTimers();
    logged.length = 0;
    announcements = new Announcements((sequence) => logged.push(sequence));
  });
  afterEach(() => {
    announcements.close();
    vi.useRealTimers();
  });

  it("report the first at once, and the following ones together", () => {
    announcements.soon(1);
    expect(logged).toEqual([1]);
    for (const sequence of [2, 4, 3]) announcements.soon(sequence);
    expect(logged).toEqual([1]);
    vi.advanceTimersByTime(100);
    expect(logged).toEqual([1, 4]);
    announcements.soon(5);
    expect(logged).toEqual([1, 4, 5]);
  });

  it("report a commit at once that a caller waits for, and only once", () => {
    announcements.soon(1);
    announcements.soon(2);
    announcements.now(3);
    expect(logged).toEqual([1, 3]);
    vi.advanceTimersByTime(100);
    expect(logged).toEqual([1, 3]);
  });

  it("end when the index is closed", () => {
    announcements.soon(1);
    announcements.soon(2);
    announcements.close();
    vi.advanceTimersByTime(100);
    expect(logged).toEqual([1]);
  });
});
