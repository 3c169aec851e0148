import { tmpdir } from "node:os";
import { resolve } from "node:path";
import type { BlobStore } from "@moorage/kernel/blobs";
import { type Config, settingError } from "@moorage/kernel/config";
import type { IssuerKeys, TermsDocument } from "@moorage/kernel/core/service";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Work } from "@moorage/kernel/core/work";
import type { Clock } from "@moorage/kernel/lib/clock";
import { spaceOf } from "@moorage/kernel/lib/disk-space";
import { probeFolderInBackground } from "@moorage/kernel/lib/probe-folder";
import { describeFault, faultIn, fileFault, storageFault } from "@moorage/kernel/lib/storage-fault";
import type { Tokens } from "@moorage/platform/auth";
import { createSinkTests } from "@moorage/platform/webhooks";
import { notingBlobs } from "@moorage/registry/oci";
import type { Logger } from "pino";
import { openBlobsOf } from "../installation/stores.ts";
import { accountProviders } from "../runtime/cloud-providers.ts";
import { type Method, methodsOf } from "../runtime/methods.ts";
import { blobReader } from "../runtime/read-blob.ts";
import { openTransactor } from "../runtime/transactor.ts";
import type { Base } from "./base.ts";
import type { Health } from "./health.ts";
import type { LargeProcessData } from "./large-process.ts";
import type { Shutdown } from "./shutdown.ts";

/** The blob store, the methods, and the transactor. */
export interface Storage {
  blobs: BlobStore;
  /** The methods of the API. */
  methods: Map<string, Method>;
  /** What services are made with that can be sent to another process. */
  context: LargeProcessData["context"];
  /** Uids of identities that may create organizations. */
  admins: readonly string[];
  transactor: Transactor;
}

const LOOK_EVERY_MS = 60_000;

export interface StorageOptions {
  health: Health;
  clock: Clock;
  log: Logger;
  terms: readonly TermsDocument[];
  /** The modules of further ecosystems of libraries, by URL. Defaults to none. */
  ecosystems?: readonly string[];
  /** Called when the first token for a cloud provider is signed. */
  tokens(): Tokens;
  /** Called when the first issuer is checked. */
  issuers(): IssuerKeys;
  /** Called after commits that leave something to do for this background work. */
  woken(works: ReadonlySet<Work>): void;
}

export async function openStorage(
  config: Config,
  { observation, store, installation, secretKeys, secrets }: Base,
  { health, clock, log, terms, ecosystems = [], tokens, issuers, woken }: StorageOptions,
  shutdown: Shutdown,
): Promise<Storage> {
  const { pageTokenKey, ownerRole, bootstrap } = installation;
  const { dataDir, eventsPrefix, baseUrl, registryUrl, allowPrivateNetwork, emailIssuers, publicAdvisories } = config;
  const admins = [bootstrap.identity.uid, ...config.admins];
  const late: { transactor?: Transactor } = {};
  const blobs = notingBlobs(observation.blobs(await openBlobsOf(config), health.storage.noted), {
    transactor: () => late.transactor ?? writerNotOpen(),
    clock,
    log,
    metrics: observation.content,
  });
  if (config.blobsUrl !== "") await requireWritable(blobs);
  health.storage.places({
    ...(config.databaseUrl === "" && { database: resolve(dataDir) }),
    ...(config.blobsUrl === "" && { blobs: resolve(dataDir) }),
    disk: [resolve(dataDir), tmpdir()],
    hasReserve: config.databaseUrl === "" && config.diskReserveBytes > 0,
  });
  observation.storage.watch(() => spaceOf(dataDir));
  // A bucket that nobody writes to may turn read-only unnoticed, and a disk full.
  const looked =
    config.blobsUrl !== "" && config.databaseUrl === "" ? (["blobs", "disk"] as const) : (["blobs"] as const);
  const looking = setInterval(() => looked.forEach((part) => health.storage.suspect(part)), LOOK_EVERY_MS).unref();
  shutdown.at("writer", () => clearInterval(looking));
  const context = {
    pageTokenKey,
    ownerRole,
    eventsPrefix,
    baseUrl,
    sendsMail: config.smtpUrl !== "",
    registryUrl,
    allowPrivateNetwork,
    emailIssuers,
    publicAdvisories,
    hasSigstoreRoot: config.sigstoreRootFile !== "" || config.sigstoreTufUrl !== "",
    asksAuthorities: config.revocation === "online",
    terms,
    ecosystems,
    admins,
    installation: {
      organization: bootstrap.organization.uid,
      version: observation.version,
      engine: store.engine,
      blobStore: config.blobsUrl === "" ? ("files" as const) : ("s3" as const),
      startMs: Math.trunc(performance.timeOrigin),
      gcGraceMs: config.gcGraceMs,
      uploadTtlMs: config.uploadTtlMs,
      feedsMirror: config.feedsMirror,
      ...((config.databaseUrl === "" || config.blobsUrl === "") && { dataDir: resolve(dataDir) }),
    },
  };
  const served = {
    ...context,
    publicOrganization: config.publicOrganization,
    freeTierTags: config.freeTierTags,
  };
  const providers = accountProviders(config, tokens);
  const sinks = createSinkTests({ config, tokens, clock });
  const methods = methodsOf({
    ...served,
    secrets,
    readBlob: blobReader(blobs),
    providers,
    sinks,
    issuers: { faultOf: (...asked) => issuers().faultOf(...asked) },
  });
  const writer = await openTransactor(store, {
    ...context,
    dataDir,
    methods,
    secretKeys,
    ...(config.databaseUrl === "" && { reserve: { dataDir, bytes: config.diskReserveBytes } }),
    onFault: health.writer.died,
    onRestart: health.writer.restarted,
    onSettled: health.writer.settled,
    onReserve: health.writer.reserve,
    onDamage: health.damaged,
    onWake: woken,
  });
  health.storage.watch("database", () => writer.probe());
  health.storage.watch("disk", () => probeData(config.dataDir));
  if (blobs.probe !== undefined) health.storage.watch("blobs", () => blobs.probe?.() ?? Promise.resolve());
  shutdown.at("writer", () => writer.close());
  observation.database.watch(() => ({ pool: store.use?.(), writes: writer.waiting() }));
  const transactor = observation.transactor(writer, health.storage.noted);
  late.transactor = transactor;
  return { blobs, methods, context: served, admins, transactor };
}

/** Throws a ConfigError that says why when the bucket takes no writes. */
async function requireWritable(blobs: BlobStore): Promise<void> {
  try {
    await blobs.probe?.();
  } catch (error) {
    const fault = faultIn(error);
    if (fault === undefined) throw error;
    const detail = fault.detail === undefined ? "" : `: ${fault.detail}`;
    throw settingError("blobsUrl", `the bucket cannot be written to: ${describeFault(fault)}${detail}`, {
      cause: error,
    });
  }
}

function writerNotOpen(): never {
  throw new Error("the database is not open yet");
}

/** Rejects with the fault when nothing can be written into the folder. */
async function probeData(dataDir: string): Promise<void> {
  try {
    await probeFolderInBackground(dataDir);
  } catch (error) {
    throw storageFault({ part: "disk", reason: fileFault(error) ?? "missing" }, error);
  }
}
