import assert from "node:assert/strict";
import { test } from "node:test";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Json, startPlatform } from "../../../server/test/support/platform.ts";

interface Row {
  groupUid: string;
  name: string;
  own: boolean;
  blobBytes: string;
  sharedBytes: string;
  manifestBytes: string;
  blobs: string;
  manifests: string;
  repos: string;
  tags: string;
  truncated: boolean;
  largestRepos: { name: string; blobBytes: string; blobs: string }[];
}
interface Page extends Json {
  storage: Row[];
  nextPageToken: string;
}

// What pushImage pushes: a configuration and a layer, the same for each.
const IMAGE_BYTES = `${JSON.stringify({ architecture: "amd64", os: "linux" })}layer`.length;

test("storage is answered by group, each content once in a row, and only to who may list repos there", async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const { organization } = platform;
  const { uid: team } = await platform.group(organization, { name: "team" });
  const { uid: inner } = await platform.group(team, { name: "inner" });
  await platform.group(organization, { name: "empty" });
  for (const name of ["acme/top", "acme/team/one", "acme/team/two", "acme/team/inner/three"])
    for (const tag of ["v1", "v2"]) await pushImage(platform, name, tag);
  const list = (query: string): Promise<Page> => platform.ok<Page>("GET", `/registry/v2/storage?${query}`);
  const numbers = ({ storage }: Page) =>
    storage.map(({ name, own, blobBytes, sharedBytes, blobs, manifests, repos, tags }) => [
      name,
      own,
      ...[blobBytes, sharedBytes, blobs, manifests, repos, tags].map(Number),
    ]);
  const size = IMAGE_BYTES;

  const page = await list(`uidp.descendants_of=${organization}`);
  assert.deepEqual(
    numbers(page).toSorted((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1)),
    [
      ["acme", true, size, size, 2, 1, 1, 2],
      ["empty", false, 0, 0, 0, 0, 0, 0],
      ["team", false, size, size, 2, 3, 3, 6],
    ],
  );
  const row = page.storage.find(({ groupUid }) => groupUid === team);
  assert.deepEqual(
    [row?.truncated, row?.largestRepos.map(({ name, blobBytes }) => [name, Number(blobBytes)]).toSorted()],
    [false, ["acme/team/inner/three", "acme/team/one", "acme/team/two"].map((name) => [name, size])],
  );
  assert.ok(Number(row?.manifestBytes) > 0);
  // The same layers are in acme/top, too, but that is not below what is named.
  assert.deepEqual(numbers(await list(`uidp.descendants_of=${inner}`)), [["inner", true, size, 0, 2, 1, 1, 2]]);

  const single: Row[] = [];
  for (let token = "", pages = 0; pages < 9; pages += 1) {
    const next = await list(`uidp.descendants_of=${organization}&page_size=1&page_token=${token}`);
    single.push(...next.storage);
    if ((token = next.nextPageToken) === "") break;
  }
  assert.deepEqual(single, page.storage);

  const viewer = await platform.token(await platform.identity(team, "viewer"));
  const seen = await platform.call("GET", `/registry/v2/storage?uidp.descendants_of=${organization}`, {
    token: viewer,
  });
  // It does not learn that its layers are elsewhere as well.
  assert.deepEqual(numbers(seen.body as Page), [["team", false, size, 0, 2, 3, 3, 6]]);
  const stranger = await platform.token(await platform.identity(organization));
  assert.deepEqual((await platform.call("GET", "/registry/v2/storage", { token: stranger })).body["storage"], []);

  for (const [query, field] of [
    ["page_size=-1", "page_size"],
    ["uidp.in_root=true", "uidp"],
    ["page_token=x", "page_token"],
  ]) {
    const { status, body } = await platform.call("GET", `/registry/v2/storage?${query}`, { token: viewer });
    const violations = body.details.flatMap(({ fieldViolations = [] }) => fieldViolations);
    assert.deepEqual([status, violations[0]?.field], [400, field]);
  }
});
