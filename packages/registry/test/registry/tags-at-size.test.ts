import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { create, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { ListTagsRequestSchema, type ListTagsResponse } from "@moorage/api";
import { sql } from "kysely";
import { isStored, messageOf } from "../../../kernel/src/core/stored-answer.ts";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { timestamp } from "../../../kernel/src/lib/timestamps.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { moveTag, tagsService } from "../../src/registry/index.ts";
import { changeCount } from "../../../kernel/src/store/index.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { anyDigest, type RegistryServer, startRegistry } from "../../../server/test/support/registry-server.ts";
import {
  forgetStatements,
  planOf,
  type Ran,
  rowsRead,
  statementsRun,
} from "../../../server/test/support/statements.ts";

// Requests for a repo with many tags, and for a tag with a long history, must take no more work than with few. The
// measure is not time: on SQLite it is the query plan of each statement that ran, on PostgreSQL the number of rows that
// its plan reads.

const [FEW, MANY] = [100, 20_000];
const EPOCH_MS = 1_760_000_000_000;
const PAGE = 50;
// The most rows that a page may read: each row of it passes through at most six steps of a plan.
const MAX_ROWS = 6 * (PAGE + 1);

type Request = Exclude<MessageInitShape<typeof ListTagsRequestSchema>, Message>;
/** A repo of the test: its uid, the number of its tags, and of the records of the first one. */
interface Sized {
  name: string;
  uid: string;
  size: number;
}

/** The select statements that the work runs. */
async function statementsOf(work: () => Promise<unknown>): Promise<Ran[]> {
  return (await statementsRun(work)).filter(({ text }) => /^\s*select/.test(text));
}

const name = (index: number): string => `v-${1_000_000 + index}`;
const digest = (index: number): string => `sha256:${"0".repeat(57)}${1_000_000 + index}`;

/**
 * Creates repos with few and with many tags, each moved once a second. The first tag of each has as many records: nine
 * digests in turn and then a deletion.
 */
async function seeded({ db, acme }: RegistryServer): Promise<Sized[]> {
  const repos = [FEW, MANY].map((size): Sized => ({ name: `sized-${size}`, uid: newUid(acme), size }));
  for (const { name: repo, uid, size } of repos) {
    await db
      .insertInto("repos")
      .values({
        uid,
        parent: acme,
        name: repo,
        description: "",
        catalog_tier: 0,
        bundles: "[]",
        readme: "",
        aliases: "[]",
        active_tags: "[]",
        sync_config: null,
        tag_policy: null,
        create_time: EPOCH_MS,
        update_time: EPOCH_MS,
      })
      .execute();
    await changeCount(db, "tags", `${uid}/0000000000000000`, size);
    const series = sql`(with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${sql.lit(size)}) select i from n) as s`;
    const zeros = sql.lit(`sha256:${"0".repeat(57)}`);
    await sql`insert into tags (uid, parent, name, digest, deprecated, bundles, create_time, update_time)
      select ${sql.lit(`${uid}/`)} || (1000000000000000 + s.i), ${sql.lit(uid)}, 'v-' || (1000000 + s.i), ${zeros} || (1000000 + s.i), 0, '[]',
        ${sql.lit(EPOCH_MS)} + s.i * 1000, ${sql.lit(EPOCH_MS)} + s.i * 1000 from ${series}`.execute(db);
    await sql`insert into tag_history (repo, tag, time, digest, actor, reason)
      select ${sql.lit(uid)}, ${sql.lit(name(0))}, ${sql.lit(EPOCH_MS)} + s.i * 1000,
        case when s.i % 10 = 9 then '' else ${zeros} || (1000000 + s.i % 10) end, '', 'push' from ${series}`.execute(
      db,
    );
  }
  if (ENGINE === "postgres") await sql`analyze`.execute(db);
  return repos;
}

/**
 * A request for a repo, and how SQLite must execute it: the plans of the statements about tags and records, in their
 * order.
 */
interface MeasuredRequest {
  title: string;
  ask(repo: Sized): Promise<unknown>;
  plans: string[];
  maxRows?: number;
}

const BY_NAME = "SEARCH t USING INDEX tags_parent (parent=?)";
const BY_UPDATE = "SEARCH t USING INDEX tags_update (parent=?)";
const BY_UID = "SEARCH t USING INDEX sqlite_autoindex_tags_1 (uid>? AND uid<?)";
const SORTED = "USE TEMP B-TREE FOR ORDER BY";
const TIES_SORTED = "USE TEMP B-TREE FOR LAST TERM OF ORDER BY";
// The policy of the repo, its deprecation, and whether there are policies of signatures.
const POLICY = [
  "CORRELATED SCALAR SUBQUERY 1",
  "SEARCH r USING INDEX repos_policies (uid>? AND uid<?)",
  "CORRELATED SCALAR SUBQUERY 2",
  "SEARCH r USING INDEX repos_deprecated (uid>? AND uid<?)",
  "SCALAR SUBQUERY 3",
  "SEARCH c USING PRIMARY KEY (parent=?)",
];
const MANIFEST = "SEARCH m USING INDEX sqlite_autoindex_manifests_1 (repo=? AND digest=?) LEFT-JOIN";

async function requestsOf(registry: RegistryServer): Promise<MeasuredRequest[]> {
  const { reader, db, owner, ownerToken: token, ask } = registry;
  const data = { caller: { identity: owner }, requestId: "test", nowMs: Date.now(), remoteAddress: "", userAgent: "" };
  const secrets = createSecrets([randomBytes(32)]);
  const { listTags } = tagsService(
    {
      pageTokenKey: randomBytes(32),
      ownerRole: "",
      secrets,
      eventsPrefix: "dev.moorage",
      readBlob: async () => undefined,
    },
    { findings: async () => undefined, signatures: async () => [] },
    { findings: () => async () => undefined, signatures: () => async () => undefined },
  );
  const list = async (request: Request): Promise<ListTagsResponse> => {
    const answer = await listTags(
      openCall(data, reader),
      create(ListTagsRequestSchema, { pageSize: PAGE, ...request }),
    );
    return (isStored(answer) ? messageOf(answer) : answer) as ListTagsResponse;
  };
  const ofRepo = ({ uid }: Sized) => ({ uidp: { childrenOf: uid } });
  /** Two requests: a list from its start, and from a page near its end, whose page token is fetched beforehand. */
  const listed = (title: string, orderBy: string, plans: string[], deepPlans = plans): MeasuredRequest[] => {
    const tokens = new Map<Sized, string>();
    const deep = async (repo: Sized): Promise<unknown> => {
      const pageToken = tokens.get(repo);
      if (pageToken !== undefined) return list({ pageToken });
      const { nextPageToken } = await list({
        ...ofRepo(repo),
        orderBy,
        skip: Math.floor(repo.size * 0.9) - PAGE + 5,
        pageSize: PAGE,
      });
      tokens.set(repo, nextPageToken);
      forgetStatements();
      return deep(repo);
    };
    return [
      {
        title: `list ${title}, first page`,
        plans,
        async ask(repo) {
          const { tags, totalCount } = await list({ ...ofRepo(repo), orderBy });
          assert.deepEqual([tags.length, totalCount], [PAGE, BigInt(repo.size)]);
        },
      },
      { title: `list ${title}, deep page`, plans: deepPlans, ask: deep },
    ];
  };
  const across = (orderBy: string, plans: string[], deepPlans: string[]): MeasuredRequest[] => [
    {
      title: `list of all repos ${orderBy}, first page`,
      plans,
      async ask() {
        const { tags, totalCount } = await list({ uidp: { descendantsOf: registry.acme }, orderBy });
        assert.deepEqual([tags.length, totalCount], [PAGE, BigInt(FEW + MANY)]);
      },
    },
    {
      title: `list of all repos ${orderBy}, deep page`,
      plans: deepPlans,
      async ask() {
        const { nextPageToken } = await list({ uidp: { descendantsOf: registry.acme }, orderBy, skip: MANY / 2 });
        forgetStatements();
        await list({ pageToken: nextPageToken });
      },
    },
  ];
  const filtered = (
    title: string,
    request: (repo: Sized) => Request,
    found: number,
    plans: string[],
  ): MeasuredRequest => ({
    title: `list ${title}`,
    plans,
    async ask(repo) {
      const { tags, totalCount } = await list({ ...ofRepo(repo), ...request(repo) });
      assert.deepEqual([tags.length, totalCount], [found, BigInt(found)]);
    },
  });
  const get =
    (path: (repo: Sized) => string, status = 200) =>
    async (repo: Sized): Promise<void> => {
      const answer = await ask(`/v2/acme/${repo.name}/${path(repo)}`, { token });
      assert.equal(answer.status, status, answer.text);
    };
  const late = ({ size }: Sized): string => new Date(EPOCH_MS + (size - 20) * 1_000).toISOString();
  const middle = ({ size }: Sized): string => new Date(EPOCH_MS + (size >> 1) * 1_000).toISOString();
  const timed = ({ size }: Sized): string =>
    `${name(0)}--at--${new Date(EPOCH_MS + (size >> 1) * 1_000).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const since = ({ size }: Sized) => ({ updatedSince: timestamp(EPOCH_MS + (size - 20) * 1_000) });
  const RECORDS = ["SEARCH h USING PRIMARY KEY (repo=? AND tag=? AND time<?)", MANIFEST];
  const HISTORY = "SEARCH tag_history USING PRIMARY KEY (repo=? AND tag=? AND time>? AND time<?)";
  const COUNT_SINCE = "SEARCH t USING COVERING INDEX tags_update (parent=? AND update_time>?)";
  const OF_DIGEST = "SEARCH t USING INDEX tags_digest (parent=? AND digest=?)";
  const SINCE = "SEARCH t USING INDEX tags_update (parent=? AND update_time>?)";
  // The page's names are read by the index, and only they are put together.
  const NAMES = ["CO-ROUTINE page", "SEARCH tags USING COVERING INDEX tags_parent (parent=? AND name>?)", "SCAN page"];
  const COUNT_DIGEST = "SEARCH t USING COVERING INDEX tags_digest (parent=? AND digest=?)";
  return [
    { title: "tags/list, first page", ask: get(() => `tags/list?n=${PAGE}`), plans: NAMES },
    {
      title: "tags/list, deep page",
      ask: get(({ size }) => `tags/list?n=${PAGE}&last=${name(size - 60)}`),
      plans: NAMES,
    },
    ...listed("by name", "", [BY_NAME], ["SEARCH t USING INDEX tags_parent (parent=? AND name>?)"]),
    ...listed(
      "by name, descending",
      "name desc",
      [BY_NAME],
      ["SEARCH t USING INDEX tags_parent (parent=? AND name<?)"],
    ),
    ...listed(
      "by the last move",
      "update_time",
      [BY_UPDATE],
      ["SEARCH t USING INDEX tags_update (parent=? AND (update_time,uid)>(?,?))"],
    ),
    ...listed(
      "by the last move, descending",
      "update_time desc",
      [BY_UPDATE],
      ["SEARCH t USING INDEX tags_update (parent=? AND (update_time,uid)<(?,?))"],
    ),
    ...listed(
      "by age",
      "create_time",
      ["SEARCH t USING INDEX tags_create (parent=?)", TIES_SORTED],
      ["SEARCH t USING INDEX tags_create (parent=? AND create_time>?)", TIES_SORTED],
    ),
    ...listed(
      "by digest",
      "digest",
      ["SEARCH t USING INDEX tags_digest (parent=?)", TIES_SORTED],
      ["SEARCH t USING INDEX tags_digest (parent=? AND digest>?)", TIES_SORTED],
    ),
    ...listed("by uid", "uid", [BY_UID, TIES_SORTED]),
    ...listed("by uid, descending", "uid desc", [BY_UID, TIES_SORTED]),
    filtered("of a name", () => ({ name: name(70) }), 1, [
      "SEARCH t USING INDEX tags_parent (parent=? AND name=?)",
      "SEARCH t USING COVERING INDEX tags_parent (parent=? AND name=?)",
    ]),
    filtered("of a digest", () => ({ digest: digest(70) }), 1, [OF_DIGEST, SORTED, COUNT_DIGEST]),
    filtered("of a digest, by the last move", () => ({ digest: digest(70), orderBy: "update_time desc" }), 1, [
      OF_DIGEST,
      SORTED,
      COUNT_DIGEST,
    ]),
    filtered("since a time", since, 20, [SINCE, SORTED, COUNT_SINCE]),
    filtered("since a time, by the last move", (repo) => ({ ...since(repo), orderBy: "update_time" }), 20, [
      SINCE,
      COUNT_SINCE,
    ]),
    ...across("", ["SCAN t USING INDEX tags_name"], ["SEARCH t USING INDEX tags_name ((name,uid)>(?,?))"]),
    ...across("name desc", ["SCAN t USING INDEX tags_name"], ["SEARCH t USING INDEX tags_name ((name,uid)<(?,?))"]),
    {
      title: "list of a name in the whole organization",
      plans: [
        "SEARCH t USING INDEX tags_name (name=? AND uid>? AND uid<?)",
        "SEARCH t USING COVERING INDEX tags_name (name=? AND uid>? AND uid<?)",
      ],
      async ask() {
        assert.equal((await list({ uidp: { descendantsOf: registry.acme }, name: name(MANY - 1) })).totalCount, 1n);
      },
    },
    {
      title: "list of an organization with few tags",
      plans: ["SEARCH t USING INDEX sqlite_autoindex_tags_1 (uid>? AND uid<?)", SORTED],
      async ask() {
        assert.equal((await list({ uidp: { descendantsOf: registry.open } })).totalCount, 0n);
      },
    },
    {
      title: "list of an identity without access",
      plans: [BY_NAME, "SEARCH t USING COVERING INDEX tags_create (parent=?)"],
      async ask(repo) {
        const stranger = openCall({ ...data, caller: { identity: registry.stranger } }, reader);
        const answer = await listTags(stranger, create(ListTagsRequestSchema, ofRepo(repo)));
        assert.equal(((isStored(answer) ? messageOf(answer) : answer) as ListTagsResponse).totalCount, 0n);
      },
    },
    {
      title: "history from its start",
      ask: get(() => `_service/history/${name(0)}`),
      plans: [HISTORY],
      maxRows: 3 * 1_000,
    },
    {
      title: "history near its end",
      ask: get((repo) => `_service/history/${name(0)}?start=${late(repo)}`),
      plans: [HISTORY],
    },
    {
      title: "history between two times",
      ask: get((repo) => `_service/history/${name(0)}?start=${middle(repo)}&end=${middle(repo)}`),
      plans: [HISTORY],
    },
    { title: "tag history, newest", ask: get(() => `_oci/tag-history/${name(0)}?n=${PAGE}`), plans: RECORDS },
    {
      title: "tag history, deep page",
      ask: get((repo) => `_oci/tag-history/${name(0)}?n=${PAGE}&before=${middle(repo)}`),
      plans: RECORDS,
    },
    {
      title: "tag history since a time",
      ask: get((repo) => `_oci/tag-history/${name(0)}?n=${PAGE}&since=${late(repo)}`),
      plans: RECORDS,
    },
    {
      title: "tag history of a digest",
      ask: get(() => `_oci/tag-history/${name(0)}?n=${PAGE}&digest=${digest(7)}`),
      plans: [
        "SEARCH h USING COVERING INDEX tag_history_digest (repo=? AND digest=? AND tag=? AND time<?)",
        MANIFEST,
        "CORRELATED SCALAR SUBQUERY 1",
        "SEARCH n USING PRIMARY KEY (repo=? AND tag=? AND time>?)",
      ],
    },
    {
      title: "pull as of a time",
      ask: get((repo) => `manifests/${timed(repo)}`, 404),
      plans: [
        "CO-ROUTINE h",
        "SEARCH tag_history USING PRIMARY KEY (repo=? AND tag=? AND time<?)",
        "SCAN h",
        MANIFEST,
        ...POLICY,
      ],
    },
    {
      title: "pull by tag",
      ask: get(() => `manifests/${name(7)}`, 404),
      plans: [
        "SEARCH t USING INDEX tags_parent (parent=? AND name=?)",
        "SEARCH m USING INDEX sqlite_autoindex_manifests_1 (repo=? AND digest=?)",
        ...POLICY,
      ],
    },
    {
      title: "move of the tag with the history",
      plans: [
        "SEARCH r USING INDEX sqlite_autoindex_repos_1 (uid=?)",
        "SEARCH t USING INDEX tags_parent (parent=? AND name=?) LEFT-JOIN",
        "SCALAR SUBQUERY 1",
        "SEARCH tag_history USING PRIMARY KEY (repo=? AND tag=?)",
        "CORRELATED SCALAR SUBQUERY 2",
        "SEARCH u USING INDEX sqlite_autoindex_upstream_repos_1 (repo=?)",
        "SEARCH g USING INDEX sqlite_autoindex_registry_upstreams_1 (uid=?)",
        "SCALAR SUBQUERY 3",
        "SEARCH s USING PRIMARY KEY (parent=?)",
      ],
      async ask({ uid }) {
        const { moved } = await moveTag(openCall(data, db), {
          repo: uid,
          name: name(0),
          digest: anyDigest(),
          reason: "api",
        });
        assert.ok(moved);
      },
    },
  ];
}

// The page of a list, its count and the checks of rights are separate statements.
const isAbout = ({ text }: Ran): boolean =>
  /\bfrom "?(?:tags|tag_history)\b|\(select digest from tag_history/.test(text);

test("lists, histories and pulls as of a time take no more work with many tags or a long history", async (t) => {
  const registry = await startRegistry(t);
  const repos = await seeded(registry);
  for (const { title, ask, plans, maxRows = MAX_ROWS } of await requestsOf(registry)) {
    await t.test(title, async () => {
      for (const repo of repos) {
        const statements = await statementsOf(() => ask(repo));
        const about = statements.filter(isAbout);
        assert.ok(about.length > 0, "nothing was read");
        if (ENGINE === "postgres") {
          let rows = 0;
          for (const statement of about) rows += await rowsRead(registry.db, statement);
          assert.ok(rows <= maxRows, `${rows} rows were read in a repo of ${repo.size}`);
          continue;
        }
        const found: string[] = [];
        for (const statement of about) found.push(...(await planOf(registry.db, statement)));
        assert.deepEqual(found, plans, about.map(({ text }) => text).join("\n"));
        for (const statement of statements.filter((each) => !isAbout(each))) {
          for (const plan of await planOf(registry.db, statement))
            assert.doesNotMatch(plan, /^SCAN|TEMP B-TREE FOR ORDER/, statement.text);
        }
      }
    });
  }
});
