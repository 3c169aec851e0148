import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { type Platform, startPlatform } from "../support/platform.ts";

// More than SQLite takes as ranges of one statement.
const ORGANIZATIONS = 2_500;
const ROWS = 500;

describe("a caller with rights on many organizations", () => {
  let platform: Platform;
  let token: string;
  before(async () => {
    platform = await startPlatform();
    const { organization } = platform;
    const identity = await platform.identity(organization);
    const role = await platform.role("viewer");
    token = await platform.token(identity);
    await platform.bind(organization, identity, role);
    const binding = await platform.reader
      .selectFrom("role_bindings")
      .selectAll()
      .where("identity_uid", "=", identity)
      .executeTakeFirstOrThrow();
    // Organizations themselves would take long to make; rights come from bindings alone.
    const bindings = Array.from({ length: ORGANIZATIONS }, () => {
      const parent = randomBytes(20).toString("hex");
      return { ...binding, uid: `${parent}/${randomBytes(8).toString("hex")}`, parent };
    });
    await platform.transact(async (tx) => {
      for (let at = 0; at < bindings.length; at += ROWS)
        await tx
          .insertInto("role_bindings")
          .values(bindings.slice(at, at + ROWS))
          .execute();
    });
  });
  after(() => platform.close());

  for (const path of [
    "/iam/v2/groups",
    "/iam/v2/identities",
    "/iam/v2/roles",
    "/iam/v2/roleBindings",
    "/iam/v2/identityProviders",
    "/iam/v2/groupInvites",
    "/iam/v2/accountAssociations",
    "/registry/v2/repos",
    "/registry/v2/repos?name=nothing",
    "/registry/v2/tags",
    "/registry/v2/search?query=nothing",
    "/registry/v2/storage",
    "/events/v2/subscriptions",
    "/vulnerabilities/v2/advisories",
    "/vulnerabilities/v2/findings",
    "/iam/v1/roles",
    "/registry/v1/tags",
    "/registry/v1/eoltags",
    "/registry/v1/vuln_reports",
  ])
    test(path, async () => {
      const { status, text } = await platform.call("GET", path, { token });
      assert.equal(status, 200, text);
    });

  test("sees what is in them, at every depth, and nothing of others", async () => {
    const { organization } = platform;
    const { uid: group } = await platform.group(organization);
    const { uid: repo } = await platform.repo(group);
    const { uid: publicRepo } = await platform.repo(platform.bootstrap.publicOrganization.uid);
    const { uid: tag } = await platform.tag(repo);
    await platform.tag(publicRepo);
    const uidsOf = async (path: string, plural: string): Promise<string[]> =>
      ((await platform.call("GET", path, { token })).body[plural] as { uid: string }[]).map(({ uid }) => uid);
    assert.deepEqual((await uidsOf("/iam/v2/groups", "groups")).toSorted(), [organization, group].toSorted());
    assert.deepEqual(await uidsOf("/registry/v2/repos", "repos"), [repo]);
    assert.deepEqual(await uidsOf("/registry/v2/tags", "tags"), [tag]);
  });
});
