import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Config, exportInstallation, importInstallation, loadConfig } from "../src/index.ts";
import { SILENT } from "../src/moving/report.ts";
import { databaseEnv, dropDatabase, ENGINE } from "./support/database.ts";
import { startInstallation, temporaryFolder } from "./support/installation.ts";
import { NO_S3, s3Url } from "./support/s3.ts";

type Env = Record<string, string>;

/** A place for an installation: a data folder with files, and the database that the settings name. */
interface Place { dataDir: string; env: Env; config: Config }

const portOf = (url: string): string => new URL(url).port;

async function place(t: TestContext, engine: "sqlite" | "postgres", blobs: "files" | "s3" = "files", extra: Env = {}): Promise<Place> {
  const dataDir = temporaryFolder(t);
  // The template's database is migrated and has no rows: as empty as one that was never used.
  const env = { ...(engine === "sqlite" ? { MOORAGE_DATABASE_URL: "" } : await databaseEnv(dataDir)), ...(blobs === "s3" ? { MOORAGE_BLOBS_URL: s3Url() } : {}), ...extra };
  t.after(() => dropDatabase(dataDir));
  return { dataDir, env, config: loadConfig({ MOORAGE_DATA_DIR: dataDir, ...env }) };
}

/** An installation with images, history, an identity and a large blob; answers what must be the same wherever it is moved. */
async function fill(t: TestContext, { dataDir, env }: Place) {
  const server = await startInstallation(t, env, dataDir);
  const { bootstrap } = server;
  const first = await server.pushImage("acme/team/api", "latest", "one");
  const second = await server.pushImage("acme/team/api", "latest", "two");
  for (const tag of ["a", "b", "c"]) await server.pushImage("acme/web", tag, tag);
  const large = randomBytes(3 << 20).toString("base64");
  const largeDigest = await server.pushBlob("acme/web", large);
  await server.pushBlob("acme/web", "");
  const { identity } = await server.addIdentity(bootstrap.organization.uid, "ci", "viewer");
  const token = await server.tokenFor("platform", identity);
  const page = await server.ask("GET", `/registry/v2/repos?pageSize=1&uidp.descendantsOf=${bootstrap.organization.uid}`, { token });
  const { nextPageToken } = JSON.parse(page.text) as { nextPageToken: string };
  assert.notEqual(nextPageToken, "");
  const history = (await server.ask("GET", "/v2/acme/team/api/_service/history/latest", { token: server.registry })).json.history;
  assert.equal(history.length, 2);
  return { server, first, second, large, largeDigest, token, registry: server.registry, nextPageToken, history, bootstrap };
}

/** Serves the place on the port of the server that was, so that tokens name the same URLs, and looks at everything. */
async function looksTheSame(t: TestContext, { dataDir, env }: Place, before: Awaited<ReturnType<typeof fill>>): Promise<void> {
  const server = await startInstallation(t, { ...env, MOORAGE_PORT: portOf(before.server.url) }, dataDir);
  assert.deepEqual(server.bootstrap, before.bootstrap);
  const get = (target: string, token = before.registry) => server.ask("GET", target, { token });
  assert.equal((await get("/v2/acme/team/api/manifests/latest")).headers.get("docker-content-digest"), before.second.digest, "an old registry token verifies, and the tag points where it did");
  assert.equal((await get(`/v2/acme/team/api/manifests/${before.first.digest}`)).status, 200);
  assert.equal((await get(`/v2/acme/team/api/blobs/${before.first.layer}`)).text, "layer one");
  assert.equal((await get(`/v2/acme/web/blobs/${before.largeDigest}`)).text, before.large);
  assert.deepEqual((await get("/v2/acme/team/api/_service/history/latest")).json.history, before.history);
  const next = await get(`/registry/v2/repos?pageSize=1&uidp.descendantsOf=${before.bootstrap.organization.uid}&pageToken=${encodeURIComponent(before.nextPageToken)}`, before.token);
  assert.equal(next.json.repos[0]?.name, "web", "an old page token opens");
  assert.equal((await server.pushImage("acme/team/api", "latest", "three")).answer.status, 201);
  await server.close();
}

/** The table files of an export, and what was exported of them, without generations and what is sealed. */
function contentOf(folder: string): Record<string, string[]> {
  return Object.fromEntries(readdirSync(join(folder, "tables")).sort().map((name) => {
    const lines = readFileSync(join(folder, "tables", name), "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line) as Record<string, unknown>);
    return [name, lines.map(({ generation: _generation, private_jwk: _key, ...row }) => JSON.stringify(row["key"] === "page_token_key" ? "sealed" : row))];
  }));
}

const ways: ["sqlite" | "postgres", "files" | "s3"][] = [["sqlite", "files"], ...(ENGINE === "postgres" ? [["postgres", "files"] as ["postgres", "files"]] : []),
  ...(NO_S3 === false ? [[ENGINE, "s3"] as ["sqlite" | "postgres", "s3"]] : [])];

test("S3 is among the places", { skip: NO_S3 }, () => {
  assert.ok(ways.some(([, blobs]) => blobs === "s3"));
});

for (const [engine, blobs] of ways) {
  test(`an installation goes from SQLite and files to ${engine} and ${blobs}, and back, and is the same`, { timeout: 120_000 }, async (t) => {
    const [origin, there, back] = [await place(t, "sqlite"), await place(t, engine, blobs, { MOORAGE_SECRET_KEY: randomBytes(32).toString("hex") }), await place(t, "sqlite")];
    const before = await fill(t, origin);
    const [out, home] = [temporaryFolder(t), temporaryFolder(t)];
    // The server runs while it is exported.
    const notes: string[] = [];
    const manifest = await exportInstallation(origin.config, out, { ...SILENT, note: (text) => notes.push(text) });
    assert.equal(manifest.complete, true);
    assert.equal(manifest.blobs.count, 12);
    assert.match(notes.join(), /keep it as safe as the data folder/);
    assert.equal(statSync(join(out, "secret.key")).mode & 0o777, 0o600);
    assert.ok(!readFileSync(join(out, "tables", "signing_keys.jsonl"), "utf8").includes('\\"d\\"'), "private keys stay sealed");
    await before.server.close();
    await importInstallation(there.config, out, SILENT);
    const second = await exportInstallation(there.config, home, SILENT);
    assert.equal(second.secretKey, "settings");
    assert.deepEqual(contentOf(home), contentOf(out));
    // Home again: the key of the settings opens what the export holds, and the new folder's own key seals.
    const withKey = loadConfig({ MOORAGE_DATA_DIR: back.dataDir, MOORAGE_SECRET_KEY: there.env["MOORAGE_SECRET_KEY"] });
    await assert.rejects(importInstallation(back.config, home, SILENT), /MOORAGE_SECRET_KEY/);
    await importInstallation(withKey, home, SILENT);
    await looksTheSame(t, there, before);
    await looksTheSame(t, { ...back, env: { ...back.env, MOORAGE_SECRET_KEY: there.env["MOORAGE_SECRET_KEY"] ?? "" } }, before);
  });
}
