import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { TermsDocument } from "@moorage/kernel/core/service";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { requireTerms } from "@moorage/platform/iam";
import { recordBlob } from "@moorage/registry/oci";
import { type Row, statement } from "@moorage/kernel/store";
import type { Ecosystem, PublishedVersion, Rejection } from "../ecosystem/ecosystem.ts";
import { ecosystemOf } from "../ecosystem/lookup.ts";
import { libraryError } from "../http/errors.ts";
import { requireOn } from "../http/groups.ts";
import { requireImporter } from "../http/publish-time.ts";
import { noteChange } from "./events.ts";
import { ORIGIN } from "./names.ts";
import { fileNamed, removedOf, versionNamed, versionsOf } from "./visible.ts";
import { addFile, addVersion, type NewFile, settleArtifact, takeArtifact } from "./write.ts";

/** Where something is published: the group by its uid, and by the path that was asked for. */
export interface PublishTarget {
  group: string;
  path: string;
}

/** Where something is published that may come from another registry. */
export interface DatedTarget extends PublishTarget {
  /**
   * When it was published there, in milliseconds since 1970, of a version that is made with it and of its files; that
   * takes the right to import. Defaults to now.
   */
  publishMs?: number;
}

/** What commands that publish need: the documents of which some must be accepted first. */
export interface PublishContext {
  terms: readonly TermsDocument[];
}

/** What a client publishes: files of one version. */
export interface Publication extends PublishedVersion {
  /** As its publisher writes it. */
  name: string;
  normalized: string;
  /** What clients read of the version, as JSON. Defaults to none. */
  metadata?: string;
  /** Why it is deprecated. Defaults to null: it is not. */
  deprecated?: string | null;
  /** Whether the description, if there is one, is that of a version that is there as well. Defaults to no. */
  redescribes?: boolean;
  /** The one that was sent, and what is kept beside it. */
  files: readonly [NewFile, ...NewFile[]];
}

/** What is published, and where. @public in the packed package's declarations. */
export interface PublishInput extends DatedTarget, Publication {
  /** The number of the ecosystem. */
  ecosystem: number;
}

const selectEqual = statement<Row<"artifact_versions">>(
  "select * from artifact_versions where parent = ? and sort_key = ?",
);

/**
 * Publishes files of a version, which is made with its first one. The same file again changes nothing. The right to
 * publish is asked for again in its transaction, and documents that block pushes block it, too: these are checked after
 * the rest, so that a caller without rights gets that error first. Throws what the ecosystem refuses it with: another
 * file of a name that is there, a version that is there or was removed, or that came from the upstream. The generations
 * are those of the files.
 */
export const publishLibrary = command(
  "libraries.publishLibrary",
  async (call: Call, input: PublishInput, { terms }: PublishContext): Promise<{ generations: string[] }> => {
    const ecosystem = ecosystemOf(input.ecosystem);
    await requireOn(call, input.group, input.path, ecosystem.publish);
    if (input.publishMs !== undefined) await requireImporter(call, input.group, input.path);
    const output = await publish(call, ecosystem, input);
    if (terms.length > 0) await requireTerms(call, terms, "push", [input.group]);
    return output;
  },
);

async function publish(call: Call, ecosystem: Ecosystem, input: PublishInput): Promise<{ generations: string[] }> {
  const { group, name, normalized, version, description, files } = input;
  const { versions: rules } = ecosystem;
  const about = { name, version };
  const refused = (rejection: Rejection): MoorageError => {
    const { status, message } = rules.rejection(rejection);
    return libraryError(status, message);
  };
  const artifact = await takeArtifact(call, { group, ecosystem, normalized }, name);
  const there = await equalVersion(call, ecosystem, artifact, version);
  if (rules.grows) {
    const [{ name: file, digest }] = files;
    const known = await fileNamed(call.tx, artifact.uid, file);
    if (known !== undefined && known.file.digest !== digest) throw refused({ why: "file", file, ...about });
    if (known !== undefined) return { generations: await generationsOf(call, files) };
    if (there?.origin === ORIGIN.upstream) throw refused({ why: "upstream", ...about });
  } else if (there !== undefined) throw refused({ why: "version", ...about });
  const row =
    there ??
    (await newVersion(call, ecosystem, artifact, input).catch(whereThere(refused({ why: "removed", ...about }))));
  const generations: string[] = [];
  for (const file of files) {
    const isThere = whereThere(refused({ why: "file", file: file.name, ...about }));
    generations.push((await addFile(call, artifact, row.uid, file).catch(isThere)).generation);
  }
  if (there !== undefined && input.redescribes === true && description !== undefined)
    await call.tx.updateTable("artifact_versions").set({ description }).where("uid", "=", row.uid).execute();
  const settled = await rules.settle(artifact, () => versionsOf(call.tx, artifact.uid), input);
  await settleArtifact(call, artifact, { ...settled, version: row.uid });
  await noteChange(call, artifact, { what: "published", version: row.version, files: [files[0].name] });
  return { generations };
}

/** The version that is the same as this one by the rules of the ecosystem. */
async function equalVersion(
  { tx }: Call,
  { versions }: Ecosystem,
  { uid }: Row<"artifacts">,
  version: string,
): Promise<Row<"artifact_versions"> | undefined> {
  if (!versions.areEqualByKey) return await versionNamed(tx, uid, version);
  return (await selectEqual(tx, uid, versions.sortKey(version)))[0];
}

/** Adds the version. Throws ALREADY_EXISTS for one that was removed, however it was written. */
async function newVersion(
  call: Call,
  ecosystem: Ecosystem,
  artifact: Row<"artifacts">,
  { version, description = "", metadata = "{}", deprecated = null, publishMs = call.nowMs }: PublishInput,
): Promise<Row<"artifact_versions">> {
  const { versions } = ecosystem;
  const sortKey = versions.sortKey(version);
  if (versions.areEqualByKey) {
    const { parent: group, normalized } = artifact;
    for (const removed of await removedOf(call.tx, { group, ecosystem, normalized }))
      if (versions.sortKey(removed) === sortKey) throw new MoorageError(Code.AlreadyExists, removed);
  }
  const cuda = versions.cuda?.(version) ?? "";
  return await addVersion(call, artifact, { version, sortKey, description, metadata, deprecated, cuda, publishMs });
}

/** For what is there already, the error that says so in the words of the ecosystem. */
function whereThere(refused: MoorageError): (error: unknown) => never {
  return (error) => {
    throw error instanceof MoorageError && error.code === Code.AlreadyExists ? refused : error;
  };
}

async function generationsOf(call: Call, files: readonly NewFile[]): Promise<string[]> {
  const generations: string[] = [];
  for (const file of files) generations.push((await recordBlob(call, file)).generation);
  return generations;
}
