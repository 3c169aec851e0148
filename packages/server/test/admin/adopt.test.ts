import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { loadConfig, withAdopter } from "../../src/index.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { digestOf, startInstallation, temporaryFolder } from "../support/installation.ts";

test("files become content of a repo while the server runs; what is no such content is said", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-adopt-"));
  const env = await databaseEnv(dataDir);
  const server = await startInstallation(t, env, dataDir);
  t.after(async () => {
    await server.close();
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true });
  });
  const organization = server.bootstrap.organization.uid;
  const { uid: repo } = await server.api<{ uid: string }>("POST", `/registry/v2/repos/${organization}`, {
    name: "app",
  });
  const folder = temporaryFolder(t);
  const fileOf = (content: string, digest = digestOf(content)) => {
    const file = join(folder, digest.slice(7));
    writeFileSync(file, content);
    return { place: file, digest, size: content.length };
  };
  const content = randomBytes(100_000).toString("hex");
  const good = fileOf(content);
  const lying = fileOf("lying", digestOf("other"));
  const gone = { ...good, place: join(folder, "gone"), digest: digestOf("gone") };
  await withAdopter(loadConfig({ MOORAGE_DATA_DIR: dataDir, ...env }), async (adopter) => {
    const done = await adopter.hold(repo, [good, lying, gone]);
    assert.deepEqual(
      done.map(({ digest, how, fault }) => [digest, how, fault]),
      [
        [good.digest, "link", ""],
        [lying.digest, "fault", "has bytes of another digest"],
        [gone.digest, "fault", "cannot be opened (ENOENT)"],
      ],
    );
    assert.deepEqual(
      (await adopter.hold(repo, [good])).map(({ how }) => how),
      ["here"],
    );
    const isUnknown = (error: unknown): boolean => error instanceof MoorageError && error.code === Code.NotFound;
    await assert.rejects(adopter.hold(newUid(organization), [good]), isUnknown);
  });
  assert.equal(statSync(good.place).nlink, 2);
  const answer = await server.ask("GET", `/v2/acme/app/blobs/${good.digest}`, { token: server.registry });
  assert.deepEqual([answer.status, answer.text], [200, content]);
  const { auditEntries } = await server.api<{ auditEntries: { resource: string; details: object }[] }>(
    "GET",
    "/iam/v2/auditEntries?method=registry.blob.adopt",
  );
  assert.deepEqual(
    auditEntries.map(({ details }) => details),
    [{ blobs: "1", bytes: "200000" }],
  );
});
