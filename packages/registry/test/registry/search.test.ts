import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Result {
  kind: string;
  repoUid: string;
  name: string;
  tag: string;
  tagUid: string;
  digest: string;
  labelKey: string;
  labelValue: string;
  updateTime: string;
}
interface Page extends Json {
  results: Result[];
  nextPageToken: string;
}

// More than one page looks at.
const MANY_TAGS = 60_000;
const ROWS = 5_000;

describe("search", () => {
  let platform: Platform;
  let team: string;
  let web: string;
  let digest: string;
  before(async () => {
    platform = await startPlatform();
    const { organization } = platform;
    ({ uid: team } = await platform.group(organization, { name: "payments" }));
    const { uid: other } = await platform.group(organization, { name: "others" });
    ({ uid: web } = await platform.repo(team, { name: "web-shop" }));
    const { uid: hidden } = await platform.repo(other, { name: "web-hidden" });
    for (const repo of [web, hidden]) for (const name of ["1.2.3-Alpine", "edge"]) await platform.tag(repo, { name });
    digest = await pushImage(platform, "acme/payments/api", "v7");
    const annotations = { "org.example.Team": "Red Pandas", "org.example.tier": "gold", "": "red" };
    await platform.transact(async (tx) => {
      const made = { annotations: JSON.stringify(annotations) };
      await tx.updateTable("manifests").set(made).where("digest", "=", digest).execute();
    });
  });
  after(() => platform.close());

  const search = (query: string, rest = ""): Promise<Page> =>
    platform.ok<Page>("GET", `/registry/v2/search?query=${encodeURIComponent(query)}${rest}`);
  const namesOf = ({ results }: Page): string[] =>
    results.map(({ name, tag, labelKey }) => [name, tag, labelKey].filter((each) => each !== "").join(":"));

  test("repos are found by any part of the path, in upper or lower case", async () => {
    assert.deepEqual(namesOf(await search("PAYMENTS/web")), ["acme/payments/web-shop"]);
    const [found] = (await search("b-sho")).results;
    assert.deepEqual([found?.kind, found?.repoUid, found?.tag], ["SEARCH_KIND_REPO", web, ""]);
    assert.equal((await search("me/pay", "&kinds=REPO")).results.length, 2);
    assert.deepEqual(namesOf(await search("web-", `&uidp.descendants_of=${team}`)), ["acme/payments/web-shop"]);
    assert.deepEqual((await search("web-", "&uidp.descendants_of=nothing")).results, []);
  });

  test("tags are found by any part of the name", async () => {
    const { results } = await search("-alpine", `&uidp.descendants_of=${team}`);
    const [tag] = results;
    assert.deepEqual(
      [results.length, tag?.kind, tag?.name, tag?.tag],
      [1, "SEARCH_KIND_TAG", "acme/payments/web-shop", "1.2.3-Alpine"],
    );
    const stored = await platform.ok("GET", `/registry/v2/tags/${tag?.tagUid}`);
    assert.deepEqual([tag?.digest, tag?.updateTime], [stored["digest"], stored.updateTime]);
  });

  test("digests are found by their first four digits, with or without the algorithm", async () => {
    const digits = digest.slice("sha256:".length, "sha256:".length + 4);
    for (const query of [digits, `SHA256:${digits.toUpperCase()}`, digest])
      assert.deepEqual(
        (await search(query, "&kinds=DIGEST")).results.map((each) => [each.kind, each.digest, each.name]),
        [["SEARCH_KIND_DIGEST", digest, "acme/payments/api"]],
        query,
      );
    for (const query of [digits.slice(0, 3), digits.slice(1) + "zz", `sha512:${digits}`])
      assert.deepEqual((await search(query, "&kinds=DIGEST")).results, [], query);
  });

  test("annotations are found by a part of the key or value, or by key=value", async () => {
    const label = async (query: string) =>
      (await search(query, "&kinds=LABEL")).results.map((each) => `${each.labelKey}=${each.labelValue}`);
    assert.deepEqual(await label("pandas"), ["org.example.Team=Red Pandas"]);
    assert.deepEqual(await label("example.T"), ["org.example.Team=Red Pandas", "org.example.tier=gold"]);
    assert.deepEqual(await label("org.example.team=red"), ["org.example.Team=Red Pandas"]);
    assert.deepEqual(await label("example.team=red"), []);
    assert.deepEqual(await label("org.example.tier=red"), []);
  });

  test("labels of an image's configuration are found like annotations, which count where both have a key", async () => {
    const labels = { "org.example.Ship": "Endeavour", "org.example.tier": "lead", n: 1 };
    const made = await pushImage(platform, "acme/payments/labeled", "v1", labels);
    const found = async (query: string) =>
      (await search(query, "&kinds=LABEL")).results.map(
        (each) => `${each.name}@${each.digest} ${each.labelKey}=${each.labelValue}`,
      );
    const expected = [`acme/payments/labeled@${made} org.example.Ship=Endeavour`];
    for (const query of ["endeav", "example.sh", "org.example.ship=ende"])
      assert.deepEqual(await found(query), expected);
    assert.equal((await found("=lead")).length, 0);
    assert.equal((await found("org.example.tier=lead")).length, 1);
    await platform.transact(async (tx) => {
      const annotations = JSON.stringify({ "org.example.tier": "copper" });
      await tx.updateTable("manifests").set({ annotations }).where("digest", "=", made).execute();
    });
    assert.deepEqual(await found("org.example.tier=lead"), []);
    assert.equal((await found("org.example.tier=copper")).length, 1);
    assert.deepEqual(await found("endeav"), expected);

    // As if it had been stored before labels were: a push of the same image brings them.
    await platform.transact(async (tx) => {
      await tx.updateTable("manifests").set({ labels: "{}" }).where("digest", "=", made).execute();
    });
    assert.deepEqual(await found("endeav"), []);
    await pushImage(platform, "acme/payments/labeled", "v1", labels);
    assert.deepEqual(await found("endeav"), expected);
    const annotations = "{}";
    await platform.transact(async (tx) => {
      await tx.updateTable("manifests").set({ annotations, labels: "{}" }).where("digest", "=", made).execute();
    });
  });

  test("labels that are too long or too many are cut, and what is no text is left out", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`bulk-${at}`, "x"]));
    const labels = { long: `needle-${"y".repeat(5_000)}`, [`key-${"k".repeat(300)}`]: "z", list: ["needle"], ...many };
    const made = await pushImage(platform, "acme/payments/long", "v1", labels);
    const { results } = await search("needle", "&kinds=LABEL");
    assert.deepEqual(
      results.map((each) => [each.digest, each.labelKey, each.labelValue.length]),
      [[made, "long", 1_024]],
    );
    assert.deepEqual((await search("key-kkk", "&kinds=LABEL")).results, []);
    const bulk = (await search("bulk-", "&kinds=LABEL&page_size=200")).results;
    assert.equal(bulk.length, 199);
    await platform.transact(async (tx) => {
      await tx.updateTable("manifests").set({ labels: "{}" }).where("digest", "=", made).execute();
    });
  });

  test("pages of one result have what one page has, in its order", async () => {
    for (const query of ["ed", "red", "ay"]) {
      const whole = (await search(query)).results;
      assert.ok(whole.length > 1, query);
      const single: Result[] = [];
      for (let token = "", pages = 0; pages < 50; pages += 1) {
        const page = await search(query, `&page_size=1&page_token=${token}`);
        single.push(...page.results);
        if ((token = page.nextPageToken) === "") break;
      }
      assert.deepEqual(single, whole, query);
    }
  });

  test("who may not list finds nothing, and each kind needs the rights of its own list", async () => {
    const find = async (identity: string, query: string, uid = team): Promise<string[]> => {
      const token = await platform.token(identity);
      const answer = await platform.call("GET", `/registry/v2/search?query=${query}&uidp.descendants_of=${uid}`, {
        token,
      });
      assert.equal(answer.status, 200, answer.text);
      return (answer.body as Page).results.map(({ kind }) => kind);
    };
    const { organization } = platform;
    assert.deepEqual(await find(await platform.identity(organization), "web-", organization), []);
    const viewer = await platform.identity(team, "viewer");
    assert.deepEqual(await find(viewer, "web-", organization), ["SEARCH_KIND_REPO"]);
    const role = await platform.ok("POST", `/iam/v2/roles/${organization}`, {
      name: "repos-only",
      capabilities: ["CAP_REPO_LIST"],
    });
    const lister = await platform.identity(team);
    await platform.bind(team, lister, role.uid);
    for (const query of ["edge", digest, "pandas"]) assert.deepEqual(await find(lister, query), [], query);
    assert.deepEqual(await find(lister, "web-"), ["SEARCH_KIND_REPO"]);
    for (const query of ["edge", digest, "pandas"]) assert.equal((await find(viewer, query)).length, 1, query);
  });

  test("what cannot be asked names its field", async () => {
    const refused = async (query: string): Promise<string | undefined> => {
      const { status, body } = await platform.call("GET", `/registry/v2/search?${query}`, {
        token: await platform.token(),
      });
      assert.equal(status, 400, query);
      return body.details.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;
    };
    assert.equal(await refused(""), "query");
    assert.equal(await refused("query=a"), "query");
    assert.equal(await refused(`query=${"a".repeat(201)}`), "query");
    assert.equal(await refused("query=ab%00"), "query");
    assert.equal(await refused("query=ab&page_size=-1"), "page_size");
    assert.equal(await refused("query=ab&uidp.in_root=true"), "uidp.in_root");
    assert.equal(await refused("query=ab&page_token=x"), "page_token");
    const { nextPageToken } = await search("web", "&page_size=1");
    assert.equal(await refused(`query=api&page_token=${nextPageToken}`), "page_token");
    assert.equal((await search("a".repeat(200))).results.length, 0);
  });

  test("a page over many tags ends after a bounded number of rows, and the pages find the last one", async () => {
    const { uid: big } = await platform.repo(platform.organization, { name: "big" });
    const row = await platform.reader.selectFrom("tags").selectAll().limit(1).executeTakeFirstOrThrow();
    await platform.transact(async (tx) => {
      for (let at = 0; at < MANY_TAGS; at += ROWS) {
        const rows = Array.from({ length: ROWS }, (_, n) => ({
          ...row,
          uid: newUid(big),
          parent: big,
          name: `build-${String(at + n).padStart(6, "0")}`,
        }));
        for (let from = 0; from < ROWS; from += 1_000)
          await tx
            .insertInto("tags")
            .values(rows.slice(from, from + 1_000))
            .execute();
      }
    });
    const last = `build-0${MANY_TAGS - 1}`;
    const first = await search(last);
    assert.deepEqual(first.results, []);
    assert.notEqual(first.nextPageToken, "");
    const second = await search(last, `&page_token=${first.nextPageToken}`);
    assert.deepEqual([namesOf(second), second.nextPageToken], [[`acme/big:${last}`], ""]);
  });
});
