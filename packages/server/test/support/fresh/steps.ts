import { AssertionError } from "node:assert/strict";
import type { Dice } from "../dice.ts";
import { sized } from "../extent.ts";
import { type Change, changeOf, type Writer } from "./changes.ts";
import { saidBy, textOf } from "./compare.ts";
import type { Connection, Reply } from "./connections.ts";
import type { House } from "./house.ts";
import { type About, questionOf, revalidating } from "./questions.ts";
import type { Asked, World } from "./world.ts";

/** How much each step asks. */
const ABOUT_THE_CHANGE = 14;
const ABOUT_ANYTHING = 8;
const DURING_THE_CHANGE = 6;
const MAX_CONCURRENT = 3;
const MAX_MOMENTS = 4;
const STEPS_A_MOMENT = 10;
/** After so many steps the server that keeps nothing is another process. */
const STEPS_A_PROCESS = sized(5, 40);

/** One run: random writes, and before and after each of them the same random reads. */
export interface Run {
  seed: number;
  house: House;
  world: World;
  writer: Writer;
  dice: Dice;
  /** How many answers were compared with an uncached one. */
  compared: number;
  /** Of these, how many by status. */
  statuses: Map<number, number>;
  /** The names of the last changes. */
  last: string[];
}

/**
 * One step: asks all processes, so that they keep the answers; writes, while others read; and asks again. Each answer
 * must be that of the server that keeps nothing.
 */
export async function step(run: Run, number: number): Promise<void> {
  const { world, dice, house, last } = run;
  const changes = chosen(run);
  const asked = [
    ...several(ABOUT_THE_CHANGE, () => questionOf(world, dice, mostly(dice, dice.pick(changes).about))),
    ...several(ABOUT_ANYTHING, () => questionOf(world, dice, {})),
  ];
  await compare(run, number, asked);
  last.push(`step ${number}: ${changes.map(({ name }) => name).join("; meanwhile ")}`);
  last.splice(0, last.length - 4);
  const during = several(DURING_THE_CHANGE, () => anyOf(run).ask(dice.pick(asked)));
  await Promise.all(changes.map(({ run: write }) => write()));
  // Sometimes they are still under way when the next answer is asked for.
  if (dice.chance(0.5)) await Promise.all(during);
  await (number % STEPS_A_PROCESS === 0 ? house.uncached.restart() : house.uncached.renew());
  const again = asked.map((question) => revalidating(world, dice, question));
  await compare(run, number, [...again, ...several(ABOUT_ANYTHING, () => questionOf(world, dice, {}))]);
  await Promise.all(during);
  if (number % STEPS_A_MOMENT === 0) {
    const moment = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    world.moments = [...world.moments, `--at--${moment}`].slice(-MAX_MOMENTS);
  }
}

/** Mostly one; now and then several concurrently, through different processes. */
function chosen({ world, house, writer, dice }: Run): Change[] {
  const first = changeOf(world, house, writer, dice);
  if (!first.isAlone && dice.chance(0.2)) {
    const others = several(MAX_CONCURRENT - 1, () => changeOf(world, house, writer, dice));
    return [first, ...others.filter(({ isAlone }) => !isAlone)];
  }
  return [first];
}

function mostly(dice: Dice, { actor, repo }: About): About {
  return { actor: dice.chance(0.9) ? actor : undefined, repo: dice.chance(0.9) ? repo : undefined };
}

function anyOf({ house, dice }: Run): Connection {
  return dice.pick(dice.pick(house.processes));
}

/** Asks every process and the server that keeps nothing; throws the first difference once all have answered. */
async function compare(run: Run, number: number, asked: readonly Asked[]): Promise<void> {
  const compared = await Promise.allSettled(asked.map((question) => compareOne(run, question)));
  for (const each of compared) {
    if (each.status === "rejected") throw each.reason;
    if (each.value !== undefined) throw await described(run, number, each.value);
  }
}

interface Difference {
  question: Asked;
  connection: Connection;
  got: Reply;
  uncached: Reply;
}

async function compareOne(run: Run, question: Asked): Promise<Difference | undefined> {
  const { house, dice, world } = run;
  // One process is asked once more: its second answer may be a kept one.
  const connections = [...house.processes.map((each) => dice.pick(each)), anyOf(run)];
  const [uncached, ...replies] = await Promise.all([house.uncached, ...connections].map((each) => each.ask(question)));
  if (uncached === undefined) throw new Error("there was no answer");
  const wanted = saidBy(uncached);
  run.compared += replies.length;
  run.statuses.set(uncached.status, (run.statuses.get(uncached.status) ?? 0) + replies.length);
  remember(world, question, uncached);
  const wrong = replies.findIndex((reply) => saidBy(reply) !== wanted);
  const [connection, got] = [connections[wrong], replies[wrong]];
  return connection === undefined || got === undefined ? undefined : { question, connection, got, uncached };
}

/** What later questions send back: the token of the next page, or the entity tag of an answer without one. */
function remember({ etags, pages }: World, { actor, path, method }: Asked, { status, headers, body }: Reply): void {
  if (status !== 200 || method !== "GET") return;
  const key = `${actor} ${path}`;
  const [, token = ""] = /"nextPageToken":"([^"]+)"/.exec(body.toString("latin1")) ?? [];
  // A page token holds the time of its issue, so the entity tag of such an answer is each time another.
  if (token === "" && headers["etag"] !== undefined) etags.set(key, headers["etag"]);
  if (token !== "") {
    etags.delete(key);
    if (!path.includes("page_token")) pages.set(key, token);
  }
}

async function described(
  { seed, house, last }: Run,
  number: number,
  { question, connection, got, uncached }: Difference,
): Promise<AssertionError> {
  const later = await connection.ask(question);
  await house.uncached.renew();
  const same = saidBy(later) === saidBy(await house.uncached.ask(question));
  return new AssertionError({
    message: [
      `MOORAGE_TEST_SEED=${seed}, step ${number}, ${connection.name}: not the answer of the server that keeps nothing`,
      `asked by ${question.actor}: ${textOf(question)}`,
      `after ${last.join("\n      ")}`,
      `asked again, both answer ${same ? "the same" : "differently again"}`,
      "--- answered",
      saidBy(got),
      "--- by the server that keeps nothing",
      saidBy(uncached),
    ].join("\n"),
  });
}

function several<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
