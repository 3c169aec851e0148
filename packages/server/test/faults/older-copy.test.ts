import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import pg from "pg";
import { readBootstrap } from "../../src/index.ts";
import { ENGINE } from "../support/database.ts";
import { type Answer, type DiskServer, newDataDir, startDiskServer } from "../support/disk-server.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { eventually } from "../support/eventually.ts";

// A failover to an older copy of the database, under the same address, while the server runs. It has its own
// PostgreSQL and runs once, in the run on SQLite.
const OPTIONS = {
  timeout: 300_000,
  skip: ENGINE === "sqlite" ? false : "was run with SQLite: it has its own PostgreSQL",
};

let postgres: TestPostgres;
before(async () => {
  if (OPTIONS.skip === false) postgres = await startPostgres();
});
after(() => postgres?.close());

interface Page {
  events: { id: string; subject: string }[];
  nextCursor: string;
  more: boolean;
  details?: unknown;
}

async function asAdmin(text: string): Promise<number> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query<{ number: string }>(text).finally(() => client.end());
  return Number(rows[0]?.number);
}

interface World {
  server: DiskServer;
  /** Makes as many events, and waits until the feed has them. */
  happen(count: number): Promise<void>;
  /** Reads the feed to its end. */
  read(cursor: string): Promise<{ ids: string[]; cursor: string }>;
  list(cursor: string): Promise<Answer>;
}

async function startWorld(t: TestContext): Promise<World> {
  const dataDir = newDataDir(t);
  const server = await startDiskServer(t, dataDir, { MOORAGE_DATABASE_URL: postgres.url });
  const organization = readBootstrap(dataDir).organization.uid;
  let made = 0;
  const list = (cursor: string): Promise<Answer> =>
    server.ask("GET", `/events/v2/events?group=${organization}&page_size=200&cursor=${encodeURIComponent(cursor)}`);
  const read = async (from: string): Promise<{ ids: string[]; cursor: string }> => {
    const ids: string[] = [];
    for (let cursor = from; ;) {
      const { status, text } = await list(cursor);
      assert.equal(status, 200, text);
      const page = JSON.parse(text) as Page;
      ids.push(...page.events.map(({ id }) => id));
      cursor = page.nextCursor;
      if (!page.more) return { ids, cursor };
    }
  };
  return {
    server,
    list,
    read,
    async happen(count) {
      const before = (await read("")).ids.length;
      for (let at = 0; at < count; at++)
        await server.until(
          () => server.write(`group-${(made += 1)}`),
          ({ status }) => status === 200,
        );
      await server.until(
        () => list(""),
        ({ text }) => (JSON.parse(text) as Page).events.length >= before + count,
      );
    },
  };
}

test(
  "after a failover to an older copy, cursors of what it lacks are refused, and older cursors go on",
  OPTIONS,
  async (t) => {
    const { server, happen, read, list } = await startWorld(t);
    await happen(3);
    const kept = await read("");
    await postgres.stopServer("SIGINT");
    postgres.keepCopy();
    await postgres.startServer();
    await happen(5);
    const lost = await read(kept.cursor);
    assert.equal(lost.ids.length, 5);
    // The process has seen what is lost.
    const newest = async (): Promise<number> => (await server.metric("moorage_event_newest")) ?? 0;
    const all = await asAdmin("select number from event_numbers where subject = ''");
    await eventually(async () => (await newest()) >= all);
    await postgres.stopServer("SIGQUIT");
    postgres.restoreCopy();
    await postgres.startServer();
    // More happens than was lost, so that the numbers say nothing.
    await happen(8);
    const answer = await list(lost.cursor);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /CURSOR_EXPIRED/);
    assert.match(answer.text, /older copy/);
    const anew = await read("");
    assert.equal(anew.ids.length, kept.ids.length + 8);
    assert.deepEqual((await read(kept.cursor)).ids, anew.ids.slice(kept.ids.length), "nothing is skipped");
    await server.logged(
      ({ msg, level }) => level >= 50 && msg.startsWith("the database was replaced by an older copy"),
    );
    assert.equal(await server.metric("moorage_database_went_back_total"), 1);
  },
);
