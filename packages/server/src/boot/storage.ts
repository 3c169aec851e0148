import type { Tokens } from "../auth/index.ts";
import type { BlobStore } from "../blobs/index.ts";
import type { Config } from "../config/index.ts";
import type { TermsDocument } from "../core/service.ts";
import type { Transactor } from "../core/transactor.ts";
import { openBlobsOf } from "../installation/stores.ts";
import { probeFolder } from "../lib/probe-folder.ts";
import { fileFault, storageFault } from "../lib/storage-fault.ts";
import { accountProviders } from "../runtime/cloud-providers.ts";
import { type Method, methodsOf } from "../runtime/methods.ts";
import { blobReader } from "../runtime/read-blob.ts";
import { openTransactor } from "../runtime/transactor.ts";
import { wakingTransactor } from "../webhooks/index.ts";
import type { Base } from "./base.ts";
import type { Health } from "./health.ts";
import type { Shutdown } from "./shutdown.ts";

/** The blob store, the methods, and the transactor. */
export interface Storage {
  blobs: BlobStore;
  /** The methods of the API. */
  methods: Map<string, Method>;
  /** Uids of identities that may create organizations. */
  admins: readonly string[];
  transactor: Transactor;
}

export interface StorageOptions {
  health: Health;
  terms: readonly TermsDocument[];
  /** Called when the first token for a cloud provider is signed. */
  tokens(): Tokens;
  /** Called after a write that may have emitted events. */
  written(): void;
}

export async function openStorage(
  config: Config,
  { observation, store, installation, secretKeys, secrets }: Base,
  { health, terms, tokens, written }: StorageOptions,
  shutdown: Shutdown,
): Promise<Storage> {
  const { pageTokenKey, ownerRole, bootstrap } = installation;
  const { dataDir, eventsPrefix, baseUrl, registryUrl, allowPrivateNetwork, emailIssuers, publicAdvisories } = config;
  const admins = [bootstrap.identity.uid, ...config.admins];
  const blobs = observation.blobs(await openBlobsOf(config), health.storage.noted);
  const context = {
    pageTokenKey,
    ownerRole,
    eventsPrefix,
    baseUrl,
    registryUrl,
    allowPrivateNetwork,
    emailIssuers,
    publicAdvisories,
    terms,
    admins,
  };
  const methods = methodsOf({
    ...context,
    publicOrganization: config.publicOrganization,
    freeTierTags: config.freeTierTags,
    secrets,
    readBlob: blobReader(blobs),
    installation: {
      organization: bootstrap.organization.uid,
      version: observation.version,
      engine: config.databaseUrl === "" ? "sqlite" : "postgres",
      blobStore: config.blobsUrl === "" ? "files" : "s3",
      startMs: Math.trunc(performance.timeOrigin),
      gcGraceMs: config.gcGraceMs,
      uploadTtlMs: config.uploadTtlMs,
    },
    providers: accountProviders(config, tokens),
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
  });
  health.storage.watch("database", () => writer.probe());
  health.storage.watch("disk", async () => probeData(config.dataDir));
  if (blobs.probe !== undefined) health.storage.watch("blobs", () => blobs.probe?.() ?? Promise.resolve());
  shutdown.at("writer", () => writer.close());
  observation.database.watch(() => ({ pool: store.use?.(), writes: writer.waiting() }));
  return {
    blobs,
    methods,
    admins,
    transactor: wakingTransactor(observation.transactor(writer, health.storage.noted), written),
  };
}

/** Throws the fault when nothing can be written into the folder. */
function probeData(dataDir: string): void {
  try {
    probeFolder(dataDir);
  } catch (error) {
    throw storageFault({ part: "disk", reason: fileFault(error) ?? "missing" }, error);
  }
}
