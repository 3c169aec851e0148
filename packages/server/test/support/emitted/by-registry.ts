import assert from "node:assert/strict";
import { test } from "node:test";
import { deleteReference, pushLayers } from "../catalog/push.ts";
import { eventually } from "../eventually.ts";
import { BAD, openGatedRepo, putGateRecords } from "../gated-repo.ts";
import { pushImage } from "../image.ts";
import { digestOf, OCI_INDEX } from "../installation.ts";
import { type Answer, rows } from "../platform.ts";
import { newPolicy, openSignedRepo } from "../signed-repo.ts";
import { cosignLayer, cosignPayload, newKey, newSigner, pushCosign, tagFor, verifiedSignatures } from "../signing.ts";
import { openTaggedRepo } from "../tagged-repo.ts";
import { type EventFixture, parentOf, TAG, type EmittedEvent, typesOf } from "./events.ts";

/** Tests that the registry emits events for pushes, pulls, moved tags and deletions. */
export function registryEmits({ platform, actor, emitted, pulls, ask }: EventFixture): void {
  const here = { remote_address: "127.0.0.1", user_agent: "tester/1" };
  const headers = { "user-agent": "tester/1" };
  const blob = (name: string, content: string): Promise<Answer> =>
    ask("POST", `/v2/${name}/blobs/uploads/?digest=${digestOf(content)}`, {
      raw: content,
      headers: { ...headers, "content-type": "application/octet-stream" },
    });
  const manifest = (name: string, reference: string, body: object): Promise<Answer> =>
    ask("PUT", `/v2/${name}/manifests/${reference}`, {
      raw: JSON.stringify(body),
      headers: { ...headers, "content-type": OCI_INDEX },
    });
  const index = (text: string) => ({ schemaVersion: 2, mediaType: OCI_INDEX, manifests: [], annotations: { text } });
  const withoutTime = ({ body: { when, ...body }, ...event }: EmittedEvent) => {
    assert.match(String(when), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
    return { ...event, body };
  };

  test("a push emits events for new groups and a new repo, for blobs, manifests and tags", async () => {
    const { uid: team } = await platform.group(platform.organization, { name: "pushers" });
    const name = "acme/pushers/deep/app";
    const first = await emitted(() => blob(name, "layer"));
    const [group, repo, pushed] = first as [EmittedEvent, EmittedEvent, EmittedEvent];
    assert.deepEqual(typesOf(first), [
      "api.iam.group.created.v1",
      "api.platform.registry.repo.created.v1",
      "registry.push.v1",
    ]);
    assert.deepEqual(
      [parentOf(group.subject), group.group, parentOf(repo.subject), repo.group],
      [team, group.subject, group.subject, group.subject],
    );
    assert.deepEqual(
      [group.body["name"], repo.body],
      ["deep", await platform.ok("GET", `/registry/v2/repos/${repo.subject}`)],
    );
    const place = { subject: repo.subject, group: group.subject, target: "", actor };
    const body = { repository: name, repo_id: repo.subject, ...here };
    assert.deepEqual(withoutTime(pushed), {
      type: "registry.push.v1",
      ...place,
      body: { ...body, tag: "", digest: digestOf("layer"), type: "blob" },
    });

    const one = index("one");
    const digest = digestOf(JSON.stringify(one));
    const tagged = await emitted(() => manifest(name, "v1", one));
    assert.deepEqual(typesOf(tagged), ["registry.push.v1", `${TAG}.created.v1`]);
    assert.deepEqual(withoutTime(tagged[0] as EmittedEvent), {
      type: "registry.push.v1",
      ...place,
      body: { ...body, tag: "v1", digest, type: "manifest" },
    });
    const { subject: uid } = tagged[1] as EmittedEvent;
    const tag = { uid, name: "v1", digest, previousDigest: "", reason: "push", deprecated: false, bundles: [] };
    assert.deepEqual(tagged[1], { type: `${TAG}.created.v1`, ...place, subject: uid, body: tag });
    assert.equal(parentOf(uid), repo.subject);

    assert.deepEqual(
      typesOf(await emitted(() => manifest(name, "v1", one))),
      ["registry.push.v1"],
      "a repeated push does not move the tag",
    );
    const byDigest = await emitted(() => manifest(name, digest, one));
    assert.deepEqual(
      byDigest.map((event) => event.body["tag"]),
      [""],
    );
    const both = await emitted(() => manifest(name, `${digest}?tag=v2&tag=v3`, one));
    assert.deepEqual(
      both.map(({ type, body: { tag: pushedAs, name: named } }) => [type, pushedAs ?? named]),
      [
        ["registry.push.v1", "v2"],
        [`${TAG}.created.v1`, "v2"],
        ["registry.push.v1", "v3"],
        [`${TAG}.created.v1`, "v3"],
      ],
    );
    const mounted = await emitted(() =>
      ask("POST", `/v2/acme/pushers/deep/app/blobs/uploads/?mount=${digestOf("layer")}&from=${name}`, { headers }),
    );
    assert.deepEqual(
      mounted.map(({ type, body: { digest: found } }) => [type, found]),
      [["registry.push.v1", digestOf("layer")]],
    );
  });

  test("a tag emits an event for each change, with its previous digest, and none when it is set to the same digest", async () => {
    const tagged = await openTaggedRepo(platform, "moves");
    const [one, two] = tagged.digests;
    const changes = async (work: () => Promise<unknown>): Promise<unknown[][]> =>
      (await emitted(work)).map(({ type, group, body: { digest, previousDigest, reason, deprecated } }) => {
        assert.equal(group, platform.organization);
        return [type.slice(TAG.length + 1), digest, previousDigest, reason, deprecated];
      });
    assert.deepEqual(await changes(() => tagged.set("v", one)), [["created.v1", one, "", "api", false]]);
    assert.deepEqual(await changes(() => tagged.set("v", one)), []);
    assert.deepEqual(await changes(() => platform.tag(tagged.uid, { name: "v", digest: one, deprecated: true })), [
      ["updated.v1", one, "", "api", true],
    ]);
    assert.deepEqual(await changes(() => tagged.set("v", two)), [["updated.v1", two, one, "api", false]]);
    const asked = [
      { name: "v", digest: one },
      { name: "w", digest: two },
    ];
    assert.deepEqual(await changes(() => tagged.promote(asked, { validateOnly: true })), []);
    assert.deepEqual(await changes(() => tagged.promote(asked)), [
      ["updated.v1", one, two, "promote", false],
      ["created.v1", two, "", "promote", false],
    ]);
    assert.deepEqual(await changes(() => tagged.rollback([{ name: "v" }], { validateOnly: true })), []);
    assert.deepEqual(await changes(() => tagged.rollback([{ name: "v" }])), [
      ["updated.v1", two, one, "rollback", false],
    ]);
    const imported = (digest: string, day: string) => () =>
      platform.ok("POST", `/registry/v2/tags/${tagged.uid}:importMoves`, {
        moves: [{ tag: "old", digest, time: `2024-01-${day}T00:00:00Z` }],
      });
    assert.deepEqual(await changes(imported(one, "01")), [["created.v1", one, "", "import", false]]);
    assert.deepEqual(await changes(imported(one, "01")), []);
    assert.deepEqual(await changes(imported(two, "02")), [["updated.v1", two, one, "import", false]]);
    assert.deepEqual(await changes(imported("", "03")), [["deleted.v1", two, "", "import", false]]);
    assert.deepEqual(await changes(() => tagged.drop("w")), [["deleted.v1", two, "", "delete", false]]);
    assert.deepEqual(await changes(() => tagged.remove("v")), [["deleted.v1", two, "", "delete", false]]);
  });

  test("a tag that looks like a version emits an event of its own when it moves elsewhere, by whatever way", async () => {
    const tagged = await openTaggedRepo(platform, "versions");
    const [one, two, three] = tagged.digests;
    const type = "registry.version_moved.v1";
    const alarms = async (work: () => Promise<Answer>): Promise<unknown[][]> => {
      const found = await emitted(async () => assert.equal(Math.floor((await work()).status / 100), 2));
      return found
        .filter((event) => event.type === type)
        .map(({ body }) => [body["tag"], body["previous_digest"], body["digest"], body["reason"]]);
    };
    const set = (tag: string, digest: string) => alarms(() => tagged.set(tag, digest));
    for (const tag of [
      "1.2.3",
      "v1.2.3",
      "2026.11.22",
      "1.2.3-rc.1",
      "1.2.3.4_x",
      "latest",
      "v1",
      "1.2",
      "1.2.x",
      "a1.2.3",
    ])
      assert.deepEqual(await set(tag, one), [], `a new tag ${tag}`);
    for (const tag of ["1.2.3", "v1.2.3", "2026.11.22", "1.2.3-rc.1", "1.2.3.4_x"]) {
      assert.deepEqual(await set(tag, one), [], `${tag} stays where it is`);
      assert.deepEqual(await set(tag, two), [[tag, one, two, "api"]]);
    }
    for (const tag of ["latest", "v1", "1.2", "1.2.x", "a1.2.3"]) assert.deepEqual(await set(tag, two), [], tag);

    assert.deepEqual(await alarms(() => tagged.push("1.2.3", 2)), [["1.2.3", two, three, "push"]]);
    assert.deepEqual(await alarms(() => tagged.rollback([{ name: "1.2.3" }])), [["1.2.3", three, two, "rollback"]]);
    assert.deepEqual(await alarms(() => tagged.promote([{ name: "1.2.3", fromTag: "1.2.3-rc.1" }])), []);
    assert.deepEqual(await alarms(() => tagged.promote([{ name: "1.2.3", digest: one }])), [
      ["1.2.3", two, one, "promote"],
    ]);
    assert.deepEqual(await alarms(() => tagged.drop("1.2.3")), []);
    assert.deepEqual(await alarms(() => tagged.push("1.2.3", 0)), [], "made again where it was");
    await tagged.drop("1.2.3");
    const event = (await emitted(() => tagged.push("1.2.3", 1))).find((each) => each.type === type);
    assert.deepEqual(withoutTime(event as EmittedEvent), {
      type,
      subject: tagged.uid,
      group: platform.organization,
      target: "",
      actor,
      body: {
        repository: "acme/versions",
        repo_id: tagged.uid,
        tag: "1.2.3",
        digest: two,
        previous_digest: one,
        reason: "push",
        ...here,
        user_agent: event?.body["user_agent"],
      },
    });
  });

  test("a deletion by digest emits events for the content and its tags, and so does a deleted repo", async () => {
    const tagged = await openTaggedRepo(platform, "deletes");
    const [one, two] = tagged.digests;
    for (const [name, digest] of [
      ["a", one],
      ["b", one],
      ["c", two],
    ] as const)
      await tagged.set(name, digest);
    const gone = await emitted(() => ask("DELETE", `/v2/acme/deletes/manifests/${one}`, { headers }));
    assert.deepEqual(typesOf(gone), ["registry.delete.v1", `${TAG}.deleted.v1`, `${TAG}.deleted.v1`]);
    const place = { type: "registry.delete.v1", subject: tagged.uid, group: platform.organization, target: "", actor };
    const body = { repository: "acme/deletes", repo_id: tagged.uid, ...here };
    assert.deepEqual(withoutTime(gone[0] as EmittedEvent), {
      ...place,
      body: { ...body, digest: one, type: "manifest" },
    });
    assert.deepEqual(
      gone.slice(1).map((event) => event.body["name"]),
      ["a", "b"],
    );
    await blob("acme/deletes", "alone");
    const [unlinked] = await emitted(() => ask("DELETE", `/v2/acme/deletes/blobs/${digestOf("alone")}`, { headers }));
    assert.deepEqual(withoutTime(unlinked as EmittedEvent), {
      ...place,
      body: { ...body, digest: digestOf("alone"), type: "blob" },
    });
    const repo = await emitted(() => platform.ok("DELETE", `/registry/v2/repos/${tagged.uid}`));
    const type = "api.platform.registry.repo.deleted.v1";
    assert.deepEqual([repo[0]?.type, repo[0]?.body["name"]], [`${TAG}.deleted.v1`, "c"]);
    const { uid } = tagged;
    assert.deepEqual(repo.slice(1), [
      { type, subject: uid, group: platform.organization, target: "", actor, body: { uid, tagCount: 1 } },
    ]);
  });

  test("a pull emits an event", async () => {
    const digest = await pushImage(platform, "acme/pulled", "v1");
    const [repo] = await rows(platform.ok("GET", "/registry/v2/repos?name=pulled"), "repos");
    await ask("GET", "/v2/acme/pulled/manifests/v1", { headers });
    const [event, ...others] = await pulls(1);
    assert.deepEqual(others, []);
    assert.deepEqual(withoutTime(event as EmittedEvent), {
      type: "registry.pull.v1",
      subject: repo?.uid,
      group: platform.organization,
      target: "",
      actor,
      body: {
        repository: "acme/pulled",
        repo_id: repo?.uid,
        tag: "v1",
        digest,
        type: "manifest",
        ...here,
        method: "GET",
      },
    });
  });

  test("a vulnerability gate emits an event for an image that it does not let pass, in its repo", async () => {
    await putGateRecords(platform);
    const repo = await openGatedRepo(platform);
    const digest = await repo.push("v1", BAD);
    for (const [mode, type, status] of [
      ["PREVIEW", "registry.gate.previewed.v1", 200],
      ["ENFORCE", "registry.gate.rejected.v1", 403],
    ] as const) {
      await repo.gate({ on: ["PULL"], mode });
      const before = (await repo.events()).length;
      const all = await emitted(async () => {
        assert.equal((await repo.pull("v1")).status, status);
        await repo.eventsUntil(before + 1);
      });
      // Findings of the image may become known at the same time.
      const events = all.filter((event) => event.type.startsWith("registry.gate."));
      const [event] = events as [EmittedEvent];
      const { user_agent: _, ...body } = withoutTime(event).body;
      assert.deepEqual(
        [events.length, event.type, event.subject, event.group],
        [1, type, repo.repo, platform.organization],
      );
      assert.deepEqual(body, {
        repository: repo.name,
        repo_id: repo.repo,
        tag: "v1",
        digest,
        action: "pull",
        count: 1,
        findings: body["findings"],
        unknown: [],
        stale_feeds: [],
        remote_address: "127.0.0.1",
      });
    }
  });

  test("signatures emit an event when they are verified, rejected and lost", async () => {
    const repo = await openSignedRepo(platform);
    const key = newKey();
    const signer = await newSigner(platform, repo.group, "release", [key]);
    const digest = await repo.push("v1");
    const tag = tagFor(digest, "sig");
    const changes = async (type: string, count: number, action: () => Promise<unknown>): Promise<EmittedEvent[]> => {
      const all = await emitted(async () => {
        await action();
        await verifiedSignatures(platform, repo, digest, count);
      });
      return all.filter((event) => event.type === `registry.signature.${type}.v1`);
    };
    const [verified] = await changes("verified", 1, () => repo.sign(digest, key));
    assert.deepEqual([verified?.subject, verified?.group], [repo.repo, repo.group]);
    const { manifest: _, ...body } = withoutTime(verified as EmittedEvent).body;
    assert.deepEqual(body, {
      repository: repo.name,
      repo_id: repo.repo,
      digest,
      signers: [{ uid: signer, name: "release" }],
      reason: "",
      actor: platform.owner,
    });
    // A second signature comes with the first one in a manifest of its own: nothing is lost.
    const more = [key, newKey()].map((each) => cosignLayer(each, cosignPayload(digest)));
    assert.deepEqual(await changes("lost", 2, () => pushCosign(repo, digest, more)), []);
    const other = [cosignLayer(key, cosignPayload(`sha256:${"0".repeat(64)}`))];
    const overwritten = await emitted(async () => {
      await pushCosign(repo, digest, other);
      await verifiedSignatures(platform, repo, digest, 1);
    });
    const of = (type: string) => overwritten.find((event) => event.type === `registry.signature.${type}.v1`)?.body;
    assert.equal(of("rejected")?.["reason"], `what is signed is not about ${digest}`);
    const lost = of("lost");
    assert.deepEqual([lost?.["signers"], lost?.["actor"]], [[{ uid: signer, name: "release" }], platform.owner]);
    assert.match(String(lost?.["reason"]), new RegExp(`^tag ${tag} points to sha256:`));
    await repo.sign(digest, key);
    const [deleted] = await changes("lost", 0, () => deleteReference(repo, tag));
    assert.equal(deleted?.body["reason"], `tag ${tag} does not point to it any longer`);
  });

  test("policies of signatures emit an event for an image that they block, or would", async () => {
    const repo = await openSignedRepo(platform);
    const signer = await newSigner(platform, repo.group, "release", [newKey()]);
    const digest = await repo.push("v1");
    for (const [mode, type, status] of [
      ["PREVIEW", "registry.signature_gate.previewed.v1", 200],
      ["ENFORCE", "registry.signature_gate.rejected.v1", 403],
    ] as const) {
      const policy = await newPolicy(platform, repo.group, {
        mode: `GATE_MODE_${mode}`,
        rules: [{ signers: [signer] }],
      });
      const noted = async (): Promise<string[]> => {
        const rows = platform.reader.selectFrom("signature_gate_events").select("hash").where("repo", "=", repo.repo);
        return (await rows.execute()).map(({ hash }) => hash);
      };
      const before = await noted();
      const all = await emitted(async () => {
        assert.equal((await repo.pull("v1")).status, status);
        await eventually(async () => JSON.stringify(await noted()) !== JSON.stringify(before));
      });
      const events = all.filter((event) => event.type.startsWith("registry.signature_gate."));
      const [event] = events as [EmittedEvent];
      assert.deepEqual([events.length, event.type, event.subject, event.group], [1, type, repo.repo, repo.group]);
      const { user_agent: _, policies, ...body } = withoutTime(event).body;
      assert.deepEqual(body, {
        repository: repo.name,
        repo_id: repo.repo,
        tag: "v1",
        digest,
        action: "pull",
        remote_address: "127.0.0.1",
      });
      const held = (policies as { uid: string; outcome: string }[]).map((each) => [each.uid, each.outcome]);
      assert.ok(
        held.some(([uid, outcome]) => uid === policy && outcome === "UNSIGNED"),
        JSON.stringify(held),
      );
    }
  });

  test("a vulnerability gate emits an event for an image that it lets pass without knowing what it holds", async () => {
    const repo = await openGatedRepo(platform, { on: ["PULL"], mode: "ENFORCE", onUnknown: "PASS" });
    const digest = await pushLayers(repo, "v1", [Buffer.from("no archive")]);
    const all = await emitted(async () => {
      assert.equal((await repo.pull("v1")).status, 200);
      await repo.eventsUntil(1);
    });
    const event = all.find(({ type }) => type.startsWith("registry.gate."));
    assert.deepEqual(
      [event?.type, event?.subject, event?.group, event?.body["digest"]],
      ["registry.gate.passed.v1", repo.repo, platform.organization, digest],
    );
    assert.deepEqual(
      ((event?.body["unknown"] ?? []) as { digest: string }[]).map((each) => each.digest),
      [digest],
    );
  });
}
