import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { sharedCommits } from "../../src/runtime/shared-commits.ts";
import { type Database, type Store, statement, TransientError } from "../../../kernel/src/store/index.ts";
import { databaseEnv, dropDatabase, ENGINE, openTestStore } from "../support/database.ts";

const LIMIT = {
  timeout: 300_000,
  skip: ENGINE === "sqlite" && "on SQLite the writer thread commits together: store/group-commit.ts",
};

const create = statement("create table shared (name text primary key, n bigint not null)");
const insert = statement("insert into shared (name, n) values (?, ?)", ["text", "bigint"]);
const read = statement<{ n: number }>("select n from shared where name = ?", ["text"]);
const update = statement("update shared set n = ? where name = ?", ["bigint", "text"]);
const rowsOf = statement<{ name: string; n: number; xmin: string }>(
  "select name, n, xmin::text from shared order by name",
);

/** So many stores on one database, as so many processes have them. */
async function open(t: TestContext, processes = 1): Promise<{ stores: Store[]; store: Store; db: Database }> {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-shared-"));
  await databaseEnv(dataDir);
  const opened = await Promise.all(Array.from({ length: processes }, () => openTestStore(dataDir)));
  t.after(async () => {
    for (const { close } of opened) await close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const [{ store, db } = assert.fail()] = opened;
  await create(db);
  return { stores: opened.map((each) => each.store), store, db };
}

const nameOf = (at: number): string => `row ${String(at).padStart(3, "0")}`;
/** Looks, and writes what follows from it. */
const countUp =
  (name: string) =>
  async (tx: Database): Promise<number> => {
    const [row] = await read(tx, name);
    const n = (row?.n ?? 0) + 1;
    await (row === undefined ? insert(tx, name, n) : update(tx, n, name));
    return n;
  };

test("what arrives together is committed together", LIMIT, async (t) => {
  const { store, db } = await open(t);
  const share = sharedCommits(store);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) => share({ writes: [nameOf(at)] }, countUp(nameOf(at)))),
  );
  assert.deepEqual(new Set(answers), new Set([1]));
  const rows = await rowsOf(db);
  assert.equal(rows.length, 100);
  assert.equal(new Set(rows.map(({ xmin }) => xmin)).size, 2, "64 commands in a transaction at most");
});

test(
  "what one writes, nobody in its transaction reads or writes; readers of the same go together",
  LIMIT,
  async (t) => {
    const { store, db } = await open(t);
    const share = sharedCommits(store);
    const names = ["base", "a", "b", "c"].map((name) => `${name} written`);
    const [base = "", ...others] = names;
    await Promise.all([
      share({ writes: [base] }, countUp(base)),
      ...others.map((name) => share({ writes: [name], reads: [base] }, countUp(name))),
      share({ writes: ["d", base] }, countUp("d")),
      // It meets nobody, and still does not go before one that it meets.
      share({ writes: ["e"], reads: ["d"] }, countUp("e")),
    ]);
    const order = new Map((await rowsOf(db)).map(({ name, xmin }) => [name, Number(xmin)]));
    const of = (name: string): number => order.get(name) ?? assert.fail(name);
    assert.equal(new Set(others.map(of)).size, 1, "those that only read it share a transaction");
    assert.ok(of(base) < of(others[0] ?? ""), "after the one that writes it");
    assert.ok(of("d") > of(others[0] ?? ""), "and before the next one that writes it");
    assert.ok(of("e") > of("d"));
  },
);

test("a command that fails leaves nothing, and the others are not affected", LIMIT, async (t) => {
  const { store, db } = await open(t);
  const share = sharedCommits(store);
  const refused = new MoorageError(Code.FailedPrecondition, "refused");
  await share({ writes: ["taken"] }, countUp("taken"));
  const failing: Record<number, (tx: Database) => Promise<unknown>> = {
    3: async (tx) => {
      await read(tx, nameOf(3));
      throw refused;
    },
    5: async (tx) => {
      await countUp(nameOf(5))(tx);
      throw refused;
    },
    7: async () => {
      throw new RangeError("a defect");
    },
  };
  const run = (more: typeof failing, from: number) =>
    Promise.allSettled(
      Array.from({ length: 50 }, (_, at) =>
        share({ writes: [nameOf(from + at)] }, more[at] ?? countUp(nameOf(from + at))),
      ),
    );
  const first = await run(failing, 0);
  // A statement that fails ends the transaction of all.
  const second = await run({ 3: async (tx) => await insert(tx, "taken", 9) }, 100);
  for (const [at, result] of first.entries())
    if (at in failing) assert.equal(result.status, "rejected");
    else assert.deepEqual(result, { status: "fulfilled", value: 1 });
  assert.deepEqual(
    [first[3], first[5]].map((result) => result?.status === "rejected" && result.reason === refused),
    [true, true],
  );
  assert.match(second[3]?.status === "rejected" ? String(second[3].reason) : "", /duplicate key/);
  assert.equal(second.filter(({ status }) => status === "fulfilled").length, 49);
  const names = (await rowsOf(db)).map(({ name }) => name);
  const expected = [0, 100].flatMap((from) => Array.from({ length: 50 }, (_, at) => nameOf(from + at)));
  const failed = new Set([3, 5, 7, 103].map(nameOf));
  assert.deepEqual(names, [...expected.filter((name) => !failed.has(name)), "taken"]);
});

test(
  "commands of one key follow each other, those of several processes are done again until each has counted",
  LIMIT,
  async (t) => {
    const { stores, db } = await open(t, 3);
    const answers = await Promise.all(
      stores.flatMap((store) => {
        const share = sharedCommits(store);
        return Array.from({ length: 120 }, (_, at) => share({ writes: [nameOf(at % 8)] }, countUp(nameOf(at % 8))));
      }),
    );
    const each = Array.from({ length: 45 }, (_, at) => at + 1);
    assert.deepEqual(
      answers.toSorted((a, b) => Number(a) - Number(b)),
      each.flatMap((n) => Array.from({ length: 8 }, () => n)),
    );
    assert.deepEqual(
      (await rowsOf(db)).map(({ n }) => n),
      Array.from({ length: 8 }, () => 45),
    );
  },
);

test("a command that waits for a lock does not hold up those that come later", LIMIT, async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  t.after(() => release());
  const { store } = await open(t);
  const share = sharedCommits(store);
  await Promise.all(["held", "free"].map((name) => share({ writes: [name] }, countUp(name))));
  const { promise: held, resolve: isHeld } = Promise.withResolvers<void>();
  const holder = store.transact(async (tx) => {
    await update(tx, 10, "held");
    isHeld();
    await released;
  });
  await held;
  let isDone = false;
  const blocked = share({ writes: ["held"] }, countUp("held")).then((n) => {
    isDone = true;
    return n;
  });
  // It has begun by then.
  await wait(50);
  assert.equal(await share({ writes: ["free"] }, countUp("free")), 2);
  assert.equal(isDone, false);
  release();
  await holder;
  assert.equal(await blocked, 11);
});

/** The store; `end` says of each attempt, from 1 on, how its transaction ends after its work, or after the commit. */
function ending(store: Store, end: { working?(attempt: number): unknown; committed?(attempt: number): unknown }) {
  let attempts = 0;
  return {
    async transact<T>(work: (tx: Database) => Promise<T>): Promise<T> {
      let error: unknown;
      const value = await store.transact(async (tx) => {
        attempts += 1;
        error = end.committed?.(attempts);
        const done = await work(tx);
        const failure = end.working?.(attempts);
        if (failure !== undefined) throw failure;
        return done;
      });
      if (error !== undefined) throw error;
      return value;
    },
    attempts: () => attempts,
  };
}
const collision = (): TransientError => new TransientError("collision", undefined);

test("after a collision those that have waited longest are tried again, and each is done once", LIMIT, async (t) => {
  const { store, db } = await open(t);
  const colliding = ending(store, { working: (attempt) => (attempt <= 2 ? collision() : undefined) });
  const share = sharedCommits(colliding);
  const tried: number[][] = [];
  // The first to come is the last by name.
  const answers = Array.from({ length: 64 }, (_, at) =>
    share({ writes: [nameOf(63 - at)] }, async (tx) => {
      (tried[colliding.attempts()] ??= []).push(at);
      return await countUp(nameOf(63 - at))(tx);
    }),
  );
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([1]));
  const first = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  assert.deepEqual(
    [1, 2, 3].map((attempt) => tried[attempt]?.toSorted((a, b) => a - b)),
    [first(64), first(32), first(16)],
  );
  assert.equal((await rowsOf(db)).length, 64);
});

test(
  "when it is not known whether a commit happened, those that were in it hear of it and no other",
  LIMIT,
  async (t) => {
    const { store, db } = await open(t);
    const unknown = new MoorageError(Code.Unavailable, "not known");
    const share = sharedCommits(
      ending(store, {
        working: (attempt) => (attempt === 1 ? collision() : undefined),
        committed: (attempt) => (attempt === 2 ? unknown : undefined),
      }),
    );
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, (_, at) => share({ writes: [nameOf(at)] }, countUp(nameOf(at)))),
    );
    assert.deepEqual(
      answers.map((answer) => (answer.status === "rejected" ? answer.reason === unknown : answer.value)),
      Array.from({ length: 40 }, (_, at) => (at < 20 ? true : 1)),
    );
    assert.deepEqual(new Set((await rowsOf(db)).map(({ n }) => n)), new Set([1]));
  },
);

test("a connection that ends in the middle loses nothing and does nothing twice", LIMIT, async (t) => {
  const { store, db } = await open(t);
  const share = sharedCommits(store);
  let isCut = false;
  const answers = Array.from({ length: 30 }, (_, at) =>
    share({ writes: [nameOf(at)] }, async (tx) => {
      const n = await countUp(nameOf(at))(tx);
      if (at === 5 && !isCut) {
        isCut = true;
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
      }
      return n;
    }),
  );
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([1]));
  assert.deepEqual(
    (await rowsOf(db)).map(({ n }) => n),
    Array.from({ length: 30 }, () => 1),
  );
});

test("a command reads what it has written itself, whatever others ask for", LIMIT, async (t) => {
  const { store } = await open(t);
  const share = sharedCommits(store);
  const names = Array.from({ length: 10 }, (_, at) => nameOf(at));
  await Promise.all(names.map((name) => share({ writes: [name] }, countUp(name))));
  const answers = await Promise.all(
    names.map((name, at) =>
      share({ writes: [name] }, async (tx) => {
        // The others ask for the same in the same turn, and before.
        if (at % 3 === 0) return (await read(tx, name))[0]?.n;
        void update(tx, at * 10, name);
        if (at % 3 === 2) void update(tx, at * 10 + 1, name);
        return (await read(tx, name))[0]?.n;
      }),
    ),
  );
  assert.deepEqual(
    answers,
    names.map((_, at) => [1, at * 10, at * 10 + 1][at % 3]),
  );
});

test(
  "rows are nobody else's: one command's change is not seen by another that asked for the same",
  LIMIT,
  async (t) => {
    const { store, db } = await open(t);
    await insert(db, "both", 1);
    const share = sharedCommits(store);
    const change = share({ writes: ["one"] }, async (tx) => {
      const rows = await read(tx, "both");
      for (const row of rows) row.n = 2;
      rows.length = 0;
    });
    const look = share({ writes: ["other"] }, async (tx) => {
      const rows = await read(tx, "both");
      await wait(1);
      return rows;
    });
    await change;
    assert.deepEqual(await look, [{ n: 1 }]);
  },
);

test("what a command goes on with after the end of its transaction changes nothing", LIMIT, async (t) => {
  const { store, db } = await open(t);
  const share = sharedCommits(store);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let late: Promise<unknown> = Promise.resolve();
  await Promise.all([
    share({ writes: ["late"] }, async (tx) => {
      late = ended.then(() => insert(tx, "late", 1));
    }),
    share({ writes: ["other"] }, countUp("other")),
  ]);
  end();
  await assert.rejects(late, /the transaction has ended/);
  assert.deepEqual(
    (await rowsOf(db)).map(({ name }) => name),
    ["other"],
  );
});

test("a branch of a command that goes on when another has failed writes nothing", LIMIT, async (t) => {
  const { store, db } = await open(t);
  await insert(db, "there", 1);
  const share = sharedCommits(store);
  const refused = new MoorageError(Code.FailedPrecondition, "refused");
  const branches: Promise<unknown>[] = [];
  const inBranches = async (tx: Database): Promise<void> => {
    const late = read(tx, "there");
    const branch = Promise.resolve(late).then(async () => await insert(tx, "late", 1));
    branches.push(branch);
    await Promise.all([branch, Promise.reject(refused)]);
  };
  const isRefused = (error: unknown): boolean => error === refused;
  // Alone, and beside one that succeeds.
  await assert.rejects(share({ writes: ["late"] }, inBranches), isRefused);
  await Promise.all([
    assert.rejects(share({ writes: ["late"] }, inBranches), isRefused),
    share({ writes: ["other"] }, countUp("other")),
  ]);
  assert.deepEqual(
    (await rowsOf(db)).map(({ name }) => name),
    ["other", "there"],
  );
  await Promise.all(branches.map((branch) => assert.rejects(branch, /the transaction has ended/)));
});

test("a command whose turn does not come in time is rejected with UNAVAILABLE", LIMIT, async (t) => {
  const { store } = await open(t);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const share = sharedCommits(
    {
      transact: async (work) => {
        await released;
        return await store.transact(work);
      },
    },
    { longestWaitMs: 10 },
  );
  const [first, ...rest] = Array.from({ length: 3 }, (_, at) => share({ writes: ["same"] }, async () => at));
  const isUnavailable = (error: unknown): boolean => error instanceof MoorageError && error.code === Code.Unavailable;
  await Promise.all(rest.map((answer) => assert.rejects(answer, isUnavailable)));
  release();
  assert.equal(await first, 0);
});

test("equal writes outside of transactions are both done", LIMIT, async (t) => {
  const { db } = await open(t);
  await statement("create table log (n bigint not null)")(db);
  const note = statement("insert into log (n) values (?)", ["bigint"]);
  await Promise.all([note(db, 1), note(db, 1)]);
  assert.deepEqual(await statement("select n from log")(db), [{ n: 1 }, { n: 1 }]);
});
