// A repository of The Update Framework that has the target trusted_root.json, on a server of its own.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Key, Metadata, MetaFile, Root, Signature, Snapshot, TargetFile, Targets, Timestamp } from "@tufjs/models";

const SPEC = "1.0.31";
const ROLES = ["root", "timestamp", "snapshot", "targets"] as const;
type Role = (typeof ROLES)[number];
const DAY_MS = 86_400_000;

export interface TufKey {
  key: Key;
  sign(data: Buffer): Signature;
}

export function newTufKey(kind: "ed25519" | "ecdsa" = "ed25519"): TufKey {
  const pair: { publicKey: KeyObject; privateKey: KeyObject } =
    kind === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
  const keyID = createHash("sha256").update(pem).digest("hex");
  const [keyType, scheme] = kind === "ed25519" ? ["ed25519", "ed25519"] : ["ecdsa", "ecdsa-sha2-nistp256"];
  const hash = kind === "ed25519" ? null : "sha256";
  return {
    key: new Key({ keyID, keyType: keyType ?? "", scheme: scheme ?? "", keyVal: { public: pem } }),
    sign: (data) => new Signature({ keyID, sig: sign(hash, data, pair.privateKey).toString("hex") }),
  };
}

/** What is published; what is not named stays as it was, one version higher. */
export interface Publication {
  target?: string;
  /** When the timestamp expires, in milliseconds since 1970. */
  expireMs?: number;
  /** In place of one more than before. */
  versions?: Partial<Record<Exclude<Role, "root">, number>>;
  /** Who signs the timestamp, in place of who may. */
  timestampKey?: TufKey;
}

export type TufRepository = Awaited<ReturnType<typeof openTufRepository>>;

/** Serves an empty repository; nothing is there before `publish`. */
export async function openTufRepository() {
  const files = new Map<string, Buffer>();
  const asked: string[] = [];
  const answers = new Map<string, (response: ServerResponse) => void>();
  let isDown = false;
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const special = answers.get(path);
    const file = files.get(path);
    if (isDown) response.writeHead(503).end();
    else if (special !== undefined) special(response);
    else if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const keys = { root: newTufKey("ecdsa"), timestamp: newTufKey(), snapshot: newTufKey(), targets: newTufKey() };
  const versions = { root: 0, timestamp: 0, snapshot: 0, targets: 0 };
  const later = (): string => new Date(Date.now() + 3_650 * DAY_MS).toISOString();
  let target = "";
  const text = (metadata: { toJSON(): unknown }): string => JSON.stringify(metadata.toJSON());
  const put = (path: string, content: string): string => {
    files.set(path, Buffer.from(content));
    return content;
  };

  /** Publishes a new root, signed by the keys of the root before as well. Answers its metadata. */
  function publishRoot(rootKeys: readonly TufKey[] = [keys.root], signers: readonly TufKey[] = rootKeys): string {
    versions.root += 1;
    const root = new Root({ version: versions.root, specVersion: SPEC, expires: later(), consistentSnapshot: true });
    for (const { key } of rootKeys) root.addKey(key, "root");
    for (const role of ["timestamp", "snapshot", "targets"] as const) root.addKey(keys[role].key, role);
    const metadata = new Metadata(root);
    for (const signer of signers) metadata.sign(signer.sign);
    return put(`/${versions.root}.root.json`, text(metadata));
  }

  function publish({ target: next, expireMs, versions: fixed = {}, timestampKey = keys.timestamp }: Publication = {}) {
    if (next !== undefined) target = next;
    for (const role of ["timestamp", "snapshot", "targets"] as const)
      versions[role] = fixed[role] ?? versions[role] + 1;
    const digest = createHash("sha256").update(target).digest("hex");
    put(`/targets/${digest}.trusted_root.json`, target);
    const common = (role: Role) => ({ version: versions[role], specVersion: SPEC, expires: later() });
    const targets = new Metadata(
      new Targets({
        ...common("targets"),
        targets: {
          "trusted_root.json": new TargetFile({
            path: "trusted_root.json",
            length: Buffer.byteLength(target),
            hashes: { sha256: digest },
          }),
        },
      }),
    );
    targets.sign(keys.targets.sign);
    put(`/${versions.targets}.targets.json`, text(targets));
    const snapshot = new Metadata(
      new Snapshot({ ...common("snapshot"), meta: { "targets.json": new MetaFile({ version: versions.targets }) } }),
    );
    snapshot.sign(keys.snapshot.sign);
    put(`/${versions.snapshot}.snapshot.json`, text(snapshot));
    const expires = expireMs === undefined ? later() : new Date(expireMs).toISOString();
    const timestamp = new Metadata(
      new Timestamp({
        ...common("timestamp"),
        expires,
        snapshotMeta: new MetaFile({ version: versions.snapshot }),
      }),
    );
    timestamp.sign(timestampKey.sign);
    put("/timestamp.json", text(timestamp));
  }

  return {
    url,
    keys,
    asked,
    files,
    publishRoot,
    publish,
    versions,
    /** Answers a path in this way; without one as before. */
    answer(path: string, how?: (response: ServerResponse) => void): void {
      if (how === undefined) answers.delete(path);
      else answers.set(path, how);
    },
    setDown(value: boolean): void {
      isDown = value;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
