// Every list: order, pages, skip, totals, filters, page tokens, and pages over a table that changes. Source:
// docs/contract.md, "Listing".
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addArtifact, removeArtifact } from "../support/artifacts.ts";
import { addBlock, removeBlock } from "../support/policies.ts";
import { ADVISORIES, newAdvisory } from "../support/advisories.ts";
import { blamed, DIGEST, type Json, type Platform, rows, startPlatform } from "../support/platform.ts";

interface List {
  path: string;
  plural: string;
  fields: string[];
  make(at: number): Promise<Json | string>;
  remove(uid: string): Promise<unknown>;
  scope(): string;
  /** Parameters that every request has. */
  required?: Record<string, string>;
}

const DAY_MS = 24 * 3_600_000;
const MADE = 7;
let platform: Platform;
let group = "";
let repo = "";
let lists: List[] = [];

before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization, { name: "lists" })).uid;
  repo = (await platform.repo(group, { name: "tagged" })).uid;
  const { uid: places } = await platform.group(platform.organization, { name: "places" });
  const viewer = await platform.role("viewer");
  const login = { name: "login", oidc: { issuer: "https://login.example.com", clientId: "moorage" } };
  const { uid: provider } = await platform.ok("POST", `/iam/v2/identityProviders/${places}`, login);
  const bound = await platform.identity(platform.organization);
  const common = ["name", "description", "createTime", "updateTime", "uid"];
  const named = (path: string, plural: string, fields: string[], extra: object = {}, parent = () => group): List => ({
    path,
    plural,
    fields,
    scope: parent,
    remove: (uid) => platform.ok("DELETE", `${path}/${uid}`),
    // Descriptions repeat, so that sorting by them has ties.
    make: (at) =>
      platform.ok("POST", `${path}/${parent()}`, {
        name: `${plural}-${(at * 7) % 101}-${at}`.toLowerCase(),
        ...(plural !== "tags" && { description: `about ${at % 2}` }),
        ...extra,
      }),
  });
  lists = [
    named("/iam/v2/groups", "groups", [...common, "kind"]),
    named("/iam/v2/identities", "identities", [...common, "email", "company"]),
    named("/iam/v2/roles", "roles", common),
    named("/registry/v2/repos", "repos", [...common, "catalogTier"]),
    named(
      "/registry/v2/tags",
      "tags",
      ["name", "digest", "deprecated", "updateTime", "uid"],
      { digest: DIGEST },
      () => repo,
    ),
    {
      path: "/iam/v2/roleBindings",
      plural: "roleBindings",
      fields: ["createTime", "uid"],
      scope: () => group,
      make: () => platform.bind(group, bound, viewer),
      remove: (uid) => platform.ok("DELETE", `/iam/v2/roleBindings/${uid}`),
    },
    {
      path: "/iam/v2/groupInvites",
      plural: "groupInvites",
      fields: ["createTime", "expirationTime", "email", "keyId", "uid"],
      scope: () => group,
      make: (at) =>
        platform.ok("POST", `/iam/v2/groupInvites/${group}`, {
          roleUid: viewer,
          ttl: `${3600 + at}s`,
          email: `ann-${at % 2}@example.com`,
        }),
      remove: (uid) => platform.ok("DELETE", `/iam/v2/groupInvites/${uid}`),
    },
    named("/iam/v2/identityProviders", "identityProviders", common, {
      oidc: { issuer: "https://login.example.com", clientId: "moorage" },
    }),
    {
      path: "/iam/v2/externalGroupRoleMappings",
      plural: "externalGroupRoleMappings",
      fields: ["createTime", "externalGroupId", "uid"],
      scope: () => provider,
      make: async (at) =>
        platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${provider}`, {
          externalGroupId: `group-${at % 2}`,
          roleUid: viewer,
          scope: (await platform.group(places)).uid,
        }),
      remove: (uid) => platform.ok("DELETE", `/iam/v2/externalGroupRoleMappings/${uid}`),
    },
    {
      // Each belongs to a group of its own.
      ...named("/iam/v2/accountAssociations", "accountAssociations", common, {}, () => places),
      make: async (at) =>
        platform.ok("POST", `/iam/v2/accountAssociations/${(await platform.group(places)).uid}`, {
          name: `account-${(at * 7) % 101}-${at}`,
          description: `about ${at % 2}`,
        }),
    },
    {
      path: ADVISORIES,
      plural: "advisories",
      fields: ["createTime", "updateTime", "advisoryId", "artifactName", "componentName", "aliases", "author", "uid"],
      scope: () => group,
      make: (at) =>
        newAdvisory(platform, group, { artifactName: `artifact-${at % 2}`, componentName: `component-${at % 3}` }),
      remove: (uid) => platform.ok("DELETE", `${ADVISORIES}/${uid}`),
    },
    {
      path: "/libraries/v2/artifacts",
      plural: "artifacts",
      required: { ecosystems: "ECOSYSTEM_JAVASCRIPT" },
      fields: ["name", "description", "ecosystem", "versionCount", "createTime", "updateTime", "uid"],
      scope: () => group,
      make: async (at) =>
        (
          await addArtifact(platform, group, {
            name: `artifact-${(at * 7) % 101}-${at}`,
            description: `about ${at % 2}`,
          })
        ).uid,
      remove: (uid) => removeArtifact(platform, uid),
    },
    {
      path: "/libraries/v2/blocks",
      plural: "blocks",
      fields: ["lastTime", "firstTime", "name", "count", "uid"],
      scope: () => group,
      make: (at) => addBlock(platform, group, { name: `artifact-${(at * 7) % 101}-${at}`, count: at % 3 }),
      remove: (uid) => removeBlock(platform, uid),
    },
  ];
  for (const list of lists) for (let at = 0; at < MADE; at++) await list.make(at);
});
after(() => platform.close());

const query = (parameters: Record<string, string | number>): string =>
  new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)])).toString();
const get = async (list: List, parameters: Record<string, string | number>): Promise<Json> =>
  platform.ok("GET", `${list.path}?${query({ ...list.required, ...parameters })}`);
const ask = async (list: List, parameters: Record<string, string | number>) =>
  platform.call("GET", `${list.path}?${query({ ...list.required, ...parameters })}`, { token: await platform.token() });
const scoped = (list: List): Record<string, string> => ({ "uidp.descendants_of": list.scope() });

/** All pages, one after the other; calls `between` after each. */
async function all(
  list: List,
  parameters: Record<string, string | number>,
  between?: () => Promise<void>,
): Promise<Json[]> {
  const found: Json[] = [];
  for (let token = ""; ;) {
    const page = await get(list, { ...parameters, ...(token !== "" && { page_token: token }) });
    found.push(...(await rows(page, list.plural)));
    token = page.nextPageToken;
    if (token === "") return found;
    await between?.();
  }
}

async function each(work: (list: List) => Promise<void>): Promise<void> {
  for (const list of lists) await work(list);
}

test("pages of two give the same as one page, in every order, ascending and descending, in both casings", () =>
  each(async (list) => {
    const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    for (const field of list.fields) {
      for (const order of [
        field,
        `${field} asc`,
        `${snake(field)} desc`,
        ...(field === "uid" ? [] : [`${field} desc, uid`]),
      ]) {
        const whole = await rows(get(list, { ...scoped(list), order_by: order, page_size: 200 }), list.plural);
        const paged = await all(list, { ...scoped(list), orderBy: order, pageSize: 2 });
        assert.deepEqual(paged, whole, `${list.plural} by ${order}`);
        const values = whole.map((row) => String(row[field] ?? ""));
        if (field !== "kind" && field !== "catalogTier")
          assert.deepEqual(
            values,
            order.includes(" desc") ? values.toSorted().toReversed() : values.toSorted(),
            `${list.plural} by ${order}`,
          );
      }
    }
    if (!list.fields.includes("createTime")) return;
    const [spec, own] = [
      await get(list, { ...scoped(list), order_by: "created_at desc" }),
      await get(list, { ...scoped(list), order_by: "createTime desc" }),
    ];
    assert.deepEqual(spec[list.plural], own[list.plural]);
  }));

test("an invalid order is INVALID_ARGUMENT on order_by", () =>
  each(async (list) => {
    for (const order of ["nonsense", "name upwards", "uid,,uid", "uid;drop", "uid, uid"]) {
      const answer = await ask(list, { order_by: order });
      assert.equal(answer.status, 400);
      assert.deepEqual(blamed(answer), ["order_by"], order);
    }
  }));

test("totals count all matches, on every page; skip is counted from the cursor and echoed", () =>
  each(async (list) => {
    const everything = await rows(get(list, { ...scoped(list), page_size: 200 }), list.plural);
    const first = await get(list, { ...scoped(list), page_size: 2 });
    assert.equal(first.totalCount, String(everything.length));
    assert.equal(first.skipped, 0);
    const skipped = await get(list, { ...scoped(list), page_size: 2, skip: 3 });
    assert.equal(skipped.skipped, 3);
    assert.deepEqual(skipped[list.plural], everything.slice(3, 5));
    const both = await get(list, { page_token: first.nextPageToken, page_size: 2, skip: 1 });
    assert.deepEqual(both[list.plural], everything.slice(3, 5), "two behind the cursor's own two, one passed over");
    assert.equal(both.totalCount, String(everything.length));
    assert.deepEqual((await get(list, { ...scoped(list), skip: 10_000 }))[list.plural], []);
  }));

test("sizes and skips out of bounds are INVALID_ARGUMENT", () =>
  each(async (list) => {
    const answer = await ask(list, { page_size: -1, skip: -1 });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["page_size", "skip"]]);
    for (const [name, value] of [
      ["page_size", "many"],
      ["skip", "1.5"],
    ] as const)
      assert.deepEqual(blamed(await ask(list, { [name]: value })), [name]);
    assert.equal(
      (await rows(get(list, { ...scoped(list), page_size: 0 }), list.plural)).length,
      Number((await get(list, scoped(list))).totalCount),
    );
  }));

test("filters by place in the hierarchy: children, descendants, ids, ancestors, the root; a malformed uid matches nothing", () =>
  each(async (list) => {
    const uids = async (parameters: Record<string, string>): Promise<string[]> =>
      (await rows(get(list, { ...parameters, page_size: 200 }), list.plural)).map(({ uid }) => uid);
    const below = await uids(scoped(list));
    const children = await uids({ "uidp.children_of": list.scope() });
    assert.deepEqual(
      children.toSorted(),
      below.filter((uid) => uid !== list.scope() && uid.slice(0, uid.lastIndexOf("/")) === list.scope()).toSorted(),
    );
    assert.ok(children.length >= MADE);
    const [one = "", two = ""] = children;
    assert.deepEqual(await uids({ "uidp.ids": one }), [one]);
    const both = await platform.ok(
      "GET",
      `${list.path}?${query({ ...list.required })}&uidp.ids=${one}&uidp.ids=${two}`,
    );
    assert.equal(both.totalCount, "2");
    assert.deepEqual(await uids({ "uidp.descendantsOf": one }), [one], "a resource is below itself");
    for (const wrong of ["nonsense", `${one}x`, `${one}/`, "%"]) {
      for (const filter of ["uidp.descendants_of", "uidp.children_of", "uidp.ids", "uidp.ancestors_of"])
        assert.deepEqual(await uids({ [filter]: wrong }), [], `${filter}=${wrong}`);
    }
    const rooted = await uids({ "uidp.in_root": "true" });
    assert.ok(rooted.every((uid) => !uid.includes("/")));
    assert.equal(rooted.length > 0, list.plural === "groups" || list.plural === "roles");
    const above = await uids({ "uidp.ancestors_of": one });
    assert.deepEqual(above.toSorted(), list.plural === "groups" ? [platform.organization, group].toSorted() : []);
  }));

test("a name is matched exactly", () =>
  each(async (list) => {
    // Libraries are found by the beginnings of words.
    if (!list.fields.includes("name") || list.plural === "artifacts") return;
    const [first] = await rows(get(list, { ...scoped(list), "uidp.children_of": list.scope() }), list.plural);
    const name = first?.name ?? "";
    assert.deepEqual(await rows(get(list, { name, ...scoped(list) }), list.plural), [first]);
    assert.equal((await get(list, { name: name.slice(0, -1), ...scoped(list) })).totalCount, "0");
  }));

test("a text with a null character, which no database stores, matches nothing", async () => {
  for (const [path, filter, plural] of [
    ["/iam/v2/groups", "name", "groups"],
    ["/iam/v2/roleBindings", "role", "roleBindings"],
    ["/iam/v2/groupInvites", "key_id", "groupInvites"],
    ["/registry/v2/repos", "name", "repos"],
    ["/registry/v2/tags", "digest", "tags"],
  ] as const)
    assert.deepEqual(await rows(platform.ok("GET", `${path}?${filter}=a%00`), plural), [], path);
});

test("a page token of another list or of other filters, forged or malformed, is INVALID_ARGUMENT on page_token", () =>
  each(async (list) => {
    const { nextPageToken } = await get(list, { ...scoped(list), page_size: 2 });
    assert.notEqual(nextPageToken, "");
    const other = lists[(lists.indexOf(list) + 1) % lists.length] ?? list;
    const refused = async (asked: List, parameters: Record<string, string | number>): Promise<void> => {
      const answer = await ask(asked, parameters);
      assert.deepEqual([answer.status, blamed(answer)], [400, ["page_token"]], JSON.stringify(parameters));
    };
    await refused(other, { page_token: nextPageToken });
    await refused(list, { page_token: nextPageToken, "uidp.descendants_of": platform.organization });
    await refused(list, { page_token: nextPageToken, order_by: "uid desc" });
    for (const wrong of [
      "x",
      "!!",
      `${nextPageToken}A`,
      nextPageToken.slice(0, -2),
      nextPageToken.slice(1),
      `${nextPageToken[0] === "A" ? "B" : "A"}${nextPageToken.slice(1)}`,
    ])
      await refused(list, { page_token: wrong });
  }));

test("with a page token, absent filters and order are those of the token, and the size may change", () =>
  each(async (list) => {
    const order = list.fields.includes("name") ? "name desc" : "uid desc";
    const whole = await rows(get(list, { ...scoped(list), order_by: order, page_size: 200 }), list.plural);
    const { nextPageToken } = await get(list, { ...scoped(list), order_by: order, page_size: 2 });
    assert.deepEqual(
      await rows(get(list, { page_token: nextPageToken, page_size: 3 }), list.plural),
      whole.slice(2, 5),
    );
    assert.deepEqual(
      await rows(get(list, { ...scoped(list), page_token: nextPageToken, order_by: order, page_size: 3 }), list.plural),
      whole.slice(2, 5),
    );
  }));

test("after three days a page token restarts its list from the beginning, without an error, with the request's own parameters", () =>
  each(async (list) => {
    const first = await get(list, { ...scoped(list), page_size: 2 });
    platform.clock.offsetMs += 3 * DAY_MS - 60_000;
    const behind = await get(list, { page_token: first.nextPageToken, page_size: 2 });
    assert.notDeepEqual(behind[list.plural], first[list.plural], "still good");
    platform.clock.offsetMs += 120_000;
    const again = await get(list, { ...scoped(list), page_token: first.nextPageToken, page_size: 2 });
    assert.deepEqual(again[list.plural], first[list.plural]);
    const otherwise = await get(list, {
      ...scoped(list),
      page_token: first.nextPageToken,
      order_by: "uid desc",
      page_size: 1,
    });
    assert.deepEqual(
      otherwise[list.plural],
      (await get(list, { ...scoped(list), order_by: "uid desc", page_size: 1 }))[list.plural],
    );
  }));

test("while records are created and deleted, pages lose no record that stays and repeat none", () =>
  each(async (list) => {
    for (const order of list.fields.includes("name")
      ? ["name", `${["createTime", "updateTime", "lastTime"].find((field) => list.fields.includes(field))} desc`]
      : ["createTime", "uid desc"]) {
      const stay = (await rows(get(list, { ...scoped(list), page_size: 200 }), list.plural)).map(({ uid }) => uid);
      const passing: string[] = [];
      let made = 100;
      const paged = await all(list, { ...scoped(list), order_by: order, page_size: 2 }, async () => {
        const [one, two] = await Promise.all([list.make(made++), list.make(made++)]);
        for (const each of [one, two]) passing.push(typeof each === "string" ? each : each.uid);
        const gone = passing.shift();
        if (gone !== undefined) await list.remove(gone);
        // New records in front of the cursor must not keep the loop going forever.
        if (made > 140) for (const uid of passing.splice(0)) await list.remove(uid);
      });
      const uids = paged.map(({ uid }) => uid);
      assert.equal(new Set(uids).size, uids.length, `${list.plural} by ${order}: none is repeated`);
      assert.deepEqual(
        stay.filter((uid) => !uids.includes(uid)),
        [],
        `${list.plural} by ${order}: none that stayed is lost`,
      );
      for (const uid of passing) await list.remove(uid);
    }
  }));

test("a list neither shows nor counts what the caller may not list", () =>
  each(async (list) => {
    const stranger = await platform.token(await platform.identity(platform.organization));
    const answer = await platform.call("GET", `${list.path}?${query({ ...list.required, ...scoped(list) })}`, {
      token: stranger,
    });
    assert.equal(answer.status, 200);
    assert.deepEqual([answer.body[list.plural], answer.body.totalCount], [[], "0"]);
  }));
