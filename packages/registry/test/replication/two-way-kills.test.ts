// Two Moorages that push to each other, one of which is killed at many points: both end as without, no byte sent twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { digestOf } from "../../../server/test/support/installation.ts";
import {
  contentOf,
  countTaken,
  type ProcessSide,
  startTwoWayProcesses,
} from "../../../server/test/support/two-way-processes.ts";
import { settledSides } from "../../../server/test/support/two-ways.ts";

const POINTS = sized(4, 20);
// It is sent in three parts.
const LARGE = 20 * 2 ** 20;
const SMALL = 2 ** 10;
const PATH = "/registry/v2/replications";

/** What both have of a repo in the end: where its tags point, by whose push, and how they came there. */
async function stateOf(sides: readonly ProcessSide[], name: string, names: ReadonlyMap<string, string>) {
  const state: string[] = [];
  for (const [at, side] of sides.entries())
    for (const tag of ["large", "small", "both"]) {
      const digest = (await side.digestOf(name, tag)) ?? "nothing";
      const moves = await side.moves(name, tag);
      const said = moves.map(({ digest: each, reason }) => `${reason} ${names.get(each)}`);
      state.push(`${at} ${tag}: ${names.get(digest)}; ${said.join(", ")}`);
    }
  return state;
}

test("killed at any point, two that push to each other end as without, and take no byte twice", async (t) => {
  const sides = await startTwoWayProcesses(t, { onConflict: "REPLICATION_CONFLICT_OVERWRITE" });
  const [one, other] = sides;
  /** Pushes on both sides, then lets them replicate. `kill`: when so many requests or answers have come, and whom. */
  const run = async (repo: string, kill?: { after: number; inAnswer: boolean; victim: ProcessSide }) => {
    const name = `acme/${repo}`;
    for (const side of sides) await side.api("PATCH", `${PATH}/${side.rule}`, { disabled: true });
    const names = new Map([
      [await one.push(name, "large", `${repo} large `, LARGE), "large of one"],
      [await other.push(name, "small", `${repo} small `, SMALL), "small of other"],
      [await one.push(name, "both", `${repo} both one `, SMALL), "both of one"],
      [await other.push(name, "both", `${repo} both other `, SMALL), "both of other"],
    ]);
    const counts = { requests: 0, answers: 0 };
    let killed: Promise<void> | undefined;
    const look = (): void => {
      if (kill === undefined || killed !== undefined) return;
      if ((kill.inAnswer ? counts.answers : counts.requests) >= kill.after) killed = kill.victim.kill();
    };
    const taken = sides.map((side) => {
      side.front.intercept = () => {
        counts.requests += 1;
        look();
        return false;
      };
      return countTaken(side, name, () => {
        counts.answers += 1;
        look();
      });
    });
    for (const side of sides) await side.api("PATCH", `${PATH}/${side.rule}`, { disabled: false }).catch(ignored(kill));
    if (kill !== undefined) {
      await eventually(() => killed !== undefined);
      await killed;
      await kill.victim.start();
      for (const side of sides) {
        // The change of the one that was killed may not have come. Another one would begin what is under way anew.
        const { disabled = false } = await side.api<{ disabled?: boolean }>("GET", `${PATH}/${side.rule}`);
        if (disabled) await side.api("PATCH", `${PATH}/${side.rule}`, { disabled: false });
        // A run ends the delays after what failed.
        await side.api("POST", `${PATH}/${side.rule}:run`, {});
      }
    }
    const settled = await eventually(async () => {
      const found = await settledSides(sides);
      return ["large", "small", "both"].every((tag) => found.has(`${repo}:${tag}`)) && found;
    });
    assert.equal(names.get(settled.get(`${repo}:both`) ?? ""), "both of other");
    for (const { times } of taken)
      for (const [what, count] of times) assert.equal(count, 1, `${what} was taken ${count} times`);
    for (const side of sides) {
      const content = contentOf(`${repo} large `, LARGE);
      assert.ok((await side.blob(name, digestOf(content))).equals(Buffer.from(content)));
    }
    return { counts, partBytes: taken.map(({ partBytes }) => partBytes), state: await stateOf(sides, name, names) };
  };
  // Names of one length: their contents have one size.
  const whole = await run("p00");
  assert.deepEqual(whole.state, [
    "0 large: large of one; push large of one",
    "0 small: small of other; replicate small of other",
    "0 both: both of other; replicate both of other, push both of one",
    "1 large: large of one; replicate large of one",
    "1 small: small of other; push small of other",
    "1 both: both of other; push both of other",
  ]);
  assert.deepEqual(whole.partBytes, [0, contentOf("p00 large ", LARGE).length]);
  const total = whole.counts.requests;
  for (let point = 1; point <= POINTS; point += 1) {
    const after = Math.max(1, Math.floor((point * total) / (POINTS + 1)));
    const kill = { after, inAnswer: point % 4 > 1, victim: point % 2 === 0 ? one : other };
    const where = `point ${point} of ${POINTS}: after ${after} of ${total}`;
    const ended = await run(`p${String(point).padStart(2, "0")}`, kill);
    assert.deepEqual(ended.state, whole.state, where);
    // What the killed one took, and did not answer, is not counted.
    for (const [at, bytes] of ended.partBytes.entries())
      assert.ok(bytes <= (whole.partBytes[at] ?? 0), `${where}: ${bytes} bytes of parts were taken`);
  }
});

/** The one that is killed may not answer. */
function ignored(kill: object | undefined): (error: unknown) => void {
  return (error) => {
    if (kill === undefined) throw error;
  };
}
