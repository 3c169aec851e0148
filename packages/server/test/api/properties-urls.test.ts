import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { type Answer, blamed, type Json, type Platform, startPlatform } from "../support/platform.ts";
import { bite, checkAnswer, checkStage, LISTS, openStage, property, type Stage, text } from "../support/properties.ts";

// Arbitrary bad input against the running server: every answer is a clear error, never a 5xx, and no data is lost.
// Here: what stands in the URL.
let platform: Platform;
let stage: Stage;
let group: string;
let repo: string;
let token: string;
before(async () => {
  platform = await startPlatform();
  stage = await openStage(platform);
  ({ group, repo, token } = stage);
});
after(async () => {
  await checkStage(platform, stage);
  await platform.close();
});

const ask = async (method: string, path: string, body?: unknown): Promise<Answer> =>
  checkAnswer(await platform.call(method, path, { token, body }));

test("arbitrary paths and percent-encodings get a clear answer", async () => {
  const path = fc
    .tuple(
      fc.constantFrom(
        ...LISTS,
        "/iam/v2/roleBindings:batchCreate",
        "/iam/v2/identities:lookupIdentity",
        "/ping/v2/ping",
        "/iam/v2",
        "/registry",
        "/iam/v2beta1/groups",
      ),
      fc.array(fc.oneof(bite, fc.constantFrom("GROUP", "REPO")), { maxLength: 5 }),
    )
    .map(([collection, parts]) => ({ collection, parts }));
  await property(
    fc.tuple(fc.constantFrom("GET", "POST", "PATCH", "PUT", "OPTIONS"), path),
    async ([method, { collection, parts }]) => {
      const target = [collection, ...parts.map((part) => part.replace("GROUP", group).replace("REPO", repo))].join("/");
      await ask(method, target, method === "GET" ? undefined : {});
    },
    300,
  );
});

test("a valid path with one byte changed never leads to another resource", async () => {
  const own = `/registry/v2/repos/${repo}`;
  await property(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.constantFrom(..."0aA/%:.?#~")), async ([at, char]) => {
    const index = at % own.length;
    const changed = own.slice(0, index) + char + own.slice(index + 1);
    const { status, body } = await platform.call("GET", changed, { token });
    assert.ok(
      status === 404 ||
        status === 400 ||
        (status === 200 && (changed === own || body.uid !== repo || changed.startsWith(`${own}?`))),
      `${changed}: ${status}`,
    );
  });
});

test("arbitrary queries of every list get a clear answer", async () => {
  const name = fc.oneof(
    fc.constantFrom(
      "page_size",
      "pageSize",
      "page_token",
      "order_by",
      "skip",
      "name",
      "uidp.descendants_of",
      "uidp.childrenOf",
      "uidp.ids",
      "uidp.in_root",
      "uidp",
      "uidp.",
      "relationship_type",
      "updated_since",
      "digest",
      "role",
      "__proto__",
      "constructor",
      "uidp.__proto__",
      "$typeName",
      "",
    ),
    text,
  );
  const value = fc.oneof(
    text,
    bite,
    fc.constantFrom(
      "0",
      "-1",
      "1",
      "2147483648",
      "1e3",
      "0x10",
      "true",
      "TRUE",
      "null",
      "[]",
      "name desc",
      " ",
      "2024-13-01T00:00:00Z",
      "2024-01-01T00:00:00Z",
    ),
    fc.integer().map(String),
  );
  const raw = fc.oneof(
    { weight: 3, arbitrary: value.map(encodeURIComponent) },
    { weight: 1, arbitrary: bite.filter((part) => !/[#\s]/.test(part)) },
  );
  await property(
    fc.tuple(
      fc.constantFrom(...LISTS),
      fc.array(fc.tuple(name.map(encodeURIComponent), raw), { minLength: 1, maxLength: 4 }),
    ),
    async ([list, pairs]) => {
      await ask("GET", `${list}?${pairs.map(([left, right]) => `${left}=${right}`).join("&")}`);
    },
    300,
  );
});

test("order_by: a known field in a known form, or an error on order_by", async () => {
  const word = fc.oneof(
    fc.constantFrom(
      "name",
      "description",
      "createTime",
      "create_time",
      "created_at",
      "updated_at",
      "uid",
      "desc",
      "asc",
      "DESC",
      "name desc",
      "toString",
      "__proto__",
      "1",
    ),
    text,
  );
  await property(
    fc.tuple(
      fc.constantFrom("/iam/v2/roles", "/registry/v2/repos"),
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(",", " ", ", ", ";", "  "),
    ),
    async ([list, words, glue]) => {
      const answer = await ask("GET", `${list}?order_by=${encodeURIComponent(words.join(glue))}`);
      if (answer.status !== 200) assert.deepEqual(blamed(answer), ["order_by"]);
    },
  );
});

test("page tokens: arbitrary text and damaged tokens are errors on page_token", async () => {
  const { nextPageToken } = await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo}&page_size=2`);
  const damaged = fc
    .tuple(fc.nat(nextPageToken.length - 1), fc.constantFrom(..."AZaz09-_"))
    .map(([at, char]) => nextPageToken.slice(0, at) + char + nextPageToken.slice(at + 1))
    .filter((each) => each !== nextPageToken);
  const cut = fc
    .nat(nextPageToken.length - 1)
    .map((length) => nextPageToken.slice(0, length))
    .filter(Boolean);
  await property(
    fc.oneof(
      damaged,
      cut,
      fc.base64String({ minLength: 4, maxLength: 200 }),
      text.filter(Boolean),
      fc.constantFrom(`${nextPageToken}=`, `${nextPageToken}A`, ` ${nextPageToken}`),
    ),
    async (wrong) => {
      const answer = await ask(
        "GET",
        `/registry/v2/tags?uidp.children_of=${repo}&page_token=${encodeURIComponent(wrong)}`,
      );
      assert.deepEqual([answer.status, blamed(answer)], [400, ["page_token"]], wrong);
    },
  );
});

test("uids in filters: a malformed uid matches nothing", async () => {
  const filter = fc.constantFrom("uidp.descendants_of", "uidp.children_of", "uidp.ancestors_of", "uidp.ids");
  const near = fc
    .tuple(fc.nat(80), fc.constantFrom(..."gG%_*' /\0"))
    .map(([at, char]) => group.slice(0, at) + char + group.slice(at + 1));
  await property(
    fc.tuple(fc.constantFrom(...LISTS), filter, fc.oneof(text.filter(Boolean), near)),
    async ([list, name, uid]) => {
      const answer = await ask("GET", `${list}?${name}=${encodeURIComponent(uid)}`);
      const plural = list.slice(list.lastIndexOf("/") + 1);
      if (answer.status === 200 && uid !== group)
        assert.deepEqual(
          (answer.body[plural] as Json[]).map((each) => each.uid),
          [],
          `${list} ${name}=${uid}`,
        );
    },
  );
});
