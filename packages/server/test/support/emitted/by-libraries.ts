import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../eventually.ts";
import { npmPath, publishDocument, publishNpm } from "../npm.ts";
import { startNpmRegistry, tarballPath } from "../npm-registry.ts";
import { rows } from "../platform.ts";
import type { EmittedEvent, EventFixture } from "./events.ts";

/** Tests that publishing, changing and removing versions of libraries emits events. */
export function librariesEmit({ platform, actor, emitted, ask }: EventFixture): void {
  test("a version that is published, deprecated, tagged and removed emits events of its artifact", async () => {
    const { uid: group } = await platform.group(platform.organization, { name: "libraries" });
    const path = npmPath("acme/libraries", "@acme/ui");
    const [one] = await emitted(() => publishNpm(platform, "acme/libraries", "@acme/ui", "1.0.0"));
    const artifact = one?.subject ?? "";
    const seen: EmittedEvent[] = [one as EmittedEvent];
    const document = (await ask("GET", path)).body;
    const versions = { "1.0.0": { ...publishDocument("@acme/ui", "1.0.0"), deprecated: "old" } };
    const put = (at: string, raw: unknown) => ask("PUT", at, { raw: JSON.stringify(raw) });
    seen.push(...(await emitted(() => put(path, { ...document, versions }))));
    const tags = "/npm/acme/libraries/-/package/@acme%2fui/dist-tags";
    seen.push(...(await emitted(() => put(`${tags}/stable`, "1.0.0"))));
    const rev = String((await ask("GET", path)).body["_rev"]);
    seen.push(...(await emitted(() => ask("DELETE", `${path}/-rev/${rev}`))));
    const shown = seen.map(({ type, subject, group: place, body }) => {
      const { version, change, files } = body as { version: string; change: string; files: string[] };
      assert.deepEqual([subject, place, body["name"], body["ecosystem"]], [artifact, group, "@acme/ui", "npm"]);
      return [type, version, change, files.join()];
    });
    assert.deepEqual(shown, [
      ["libraries.version.published.v1", "1.0.0", "", "ui-1.0.0.tgz"],
      ["libraries.version.changed.v1", "1.0.0", "deprecated", ""],
      ["libraries.version.changed.v1", "1.0.0", "tag stable", ""],
      ["libraries.version.removed.v1", "1.0.0", "", ""],
    ]);
    assert.deepEqual(one?.actor, actor);
  });
  test("the first request for a file of an upstream emits that it was fetched", async (t) => {
    const registry = await startNpmRegistry(t);
    registry.publish("left", "1.0.0");
    const { uid: group } = await platform.group(platform.organization, { name: "fetching" });
    const body = { ecosystem: "ECOSYSTEM_JAVASCRIPT", url: registry.url };
    await emitted(() => platform.ok("POST", `/libraries/v2/upstreams/${group}`, body));
    const path = `/npm/acme/fetching${tarballPath("left", "1.0.0")}`;
    const [event, ...more] = await emitted(() => ask("GET", path));
    assert.deepEqual(more, []);
    assert.deepEqual([event?.type, event?.group, event?.actor], ["libraries.version.fetched.v1", group, actor]);
    const { name, version, files } = { ...event?.body } as Record<string, unknown>;
    assert.deepEqual([name, version, files], ["left", "1.0.0", ["left-1.0.0.tgz"]]);
    assert.deepEqual(await emitted(() => ask("GET", path)), []);
  });
  test("the first request for a version that a policy blocks emits that it was blocked", async () => {
    const { uid: group } = await platform.group(platform.organization, { name: "blocking" });
    const path = npmPath("acme/blocking", "left");
    await emitted(() => publishNpm(platform, "acme/blocking", "left", "1.0.0"));
    const body = { ecosystem: "ECOSYSTEM_JAVASCRIPT", mode: "POLICY_MODE_ENFORCE", blockedPurls: ["pkg:npm/left"] };
    await emitted(() => platform.ok("POST", `/libraries/v2/artifactPolicies/${group}`, body));
    const token = await platform.token();
    /** Asks for the file, and waits until the list of blocks has that many requests. */
    const request = async (count: number): Promise<void> => {
      const { status } = await platform.call("GET", `${path}/-/left-1.0.0.tgz`, { token });
      assert.equal(status, 403);
      await eventually(async () => {
        const list = `/libraries/v2/blocks?uidp.children_of=${group}`;
        const { blocks } = await platform.ok<{ blocks: { count: number }[] }>("GET", list);
        return (blocks[0]?.count ?? 0) >= count;
      });
    };
    const [event, ...more] = await emitted(() => request(1));
    assert.deepEqual(more, []);
    assert.deepEqual([event?.type, event?.group, event?.actor], ["libraries.version.blocked.v1", group, actor]);
    const { when: _, remote_address: __, user_agent: ___, ...rest } = { ...event?.body } as Record<string, unknown>;
    assert.deepEqual(rest, {
      group,
      ecosystem: "npm",
      name: "left",
      version: "1.0.0",
      identity: actor.subject,
      reason: "purl",
      detail: "pkg:npm/left",
      mode: "enforce",
      opens: "",
    });
    assert.deepEqual(await emitted(() => request(2)), []);
  });
  test("a version that is deprecated, and a library that is removed, by the API emits the same events", async () => {
    const { uid: group } = await platform.group(platform.organization, { name: "by-api" });
    for (const version of ["1.0.0", "1.1.0"]) await emitted(() => publishNpm(platform, "acme/by-api", "api", version));
    const ecosystems = "ecosystems=ECOSYSTEM_JAVASCRIPT";
    const path = `/libraries/v2/artifacts?${ecosystems}&uidp.children_of=${group}`;
    const [{ uid = "" } = {}] = await rows(platform.ok("GET", path), "artifacts");
    const versions = platform.ok("GET", `/libraries/v2/artifacts/${encodeURIComponent(uid)}/versions`);
    const [latest] = await rows(versions, "artifactVersions");
    const body = { deprecation: "old" };
    const seen = [
      ...(await emitted(() => platform.ok("PATCH", `/libraries/v2/artifactVersions/${latest?.uid ?? ""}`, body))),
      ...(await emitted(() => platform.ok("DELETE", `/libraries/v2/artifacts/${uid}`))),
    ];
    const shown = seen.map(({ type, subject, body: { version, change } }) => {
      assert.equal(subject, uid);
      return [type, version, change];
    });
    assert.deepEqual(shown, [
      ["libraries.version.changed.v1", "1.1.0", "deprecated"],
      ["libraries.version.removed.v1", "1.0.0", ""],
      ["libraries.version.removed.v1", "1.1.0", ""],
    ]);
  });
}
