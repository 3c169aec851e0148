// The flags of `moorage import-from`, checked before anything is asked of anybody.
import { open } from "node:fs/promises";
import type { ServerFlags } from "../command/global-options.ts";
import { UsageFailure } from "../command/failure.ts";
import type { OutputFlags } from "../output/output.ts";
import type { Credentials } from "./authorization.ts";

export interface MoveInFlags extends ServerFlags, OutputFlags {
  into?: string;
  plan?: string;
  apply?: string;
  finish?: boolean;
  policies?: boolean;
  secrets?: string;
  public?: boolean;
  history?: boolean;
  names?: string;
  namespace?: string[];
  issuer?: string;
  blobsFrom?: string;
  username?: string;
  passwordFile?: string;
  pullUsername?: string;
  pullPasswordFile?: string;
}

/** The kinds of registries that this command reads. */
const KINDS = ["oci", "harbor", "quay", "distribution", "verdaccio", "devpi", "nexus", "artifactory"] as const;
export type SourceKind = (typeof KINDS)[number];

/** Those with packages, which this command copies itself. */
const PACKAGE_KINDS = ["verdaccio", "devpi", "nexus", "artifactory"] as const;
export type PackageKind = (typeof PACKAGE_KINDS)[number];

/** Whether a kind has packages. */
export function hasPackages(kind: SourceKind): kind is PackageKind {
  return PACKAGE_KINDS.some((each) => each === kind);
}

// Others that people come from, with the way there is for them.
const NOT_BUILT: Readonly<Record<string, string>> = {
  gitlab: "as oci, with --names",
  ghcr: "as oci, with --names",
  hub: "as oci, with --names",
  ecr: "as oci, with --names",
  gar: "as oci, with --names",
  acr: "as oci",
};

const MAX_PASSWORD_BYTES = 16_384;
const MAX_NAMES_BYTES = 64 << 20;

/** The kind that is named. Throws a UsageFailure that says which there are, or what to do instead. */
export function kindOf(text: string): SourceKind {
  const kind = KINDS.find((each) => each === text);
  if (kind !== undefined) return kind;
  const way = NOT_BUILT[text];
  if (way !== undefined) throw new UsageFailure(`${text}: is not read by its own API. It comes ${way}`);
  throw new UsageFailure(`${text}: is not a kind of registry that this command reads: those are ${KINDS.join(", ")}`);
}

/** Throws a UsageFailure for flags that do not go together. */
export function checkFlags(kind: SourceKind, flags: MoveInFlags): void {
  const { into, plan, apply, finish, history, names, namespace } = flags;
  const hasNamespaces = kind === "harbor" || kind === "quay";
  if (names !== undefined && hasNamespaces) throw new UsageFailure(`--names: is for oci; ${kind} takes --namespace`);
  if (namespace !== undefined && !hasNamespaces) throw new UsageFailure("--namespace: is for harbor and quay");
  checkIssuer(kind, flags);
  if (kind === "distribution") checkFolderFlags(flags);
  if (hasPackages(kind)) checkPackageFlags(kind, flags);
  checkBlobsFrom(kind, flags);
  if (namespace !== undefined && plan === undefined) throw new UsageFailure("--namespace: goes with --plan");
  if (namespace === undefined && kind === "quay" && plan !== undefined)
    throw new UsageFailure("--namespace: name the organizations to read; quay lists none by itself");
  if (into === undefined || into === "") throw new UsageFailure("--into: name the group that it moves into");
  if ((plan === undefined) === (apply === undefined)) throw new UsageFailure("name either --plan or --apply");
  if (apply === undefined && finish === true) throw new UsageFailure("--finish: goes with --apply");
  if (apply === undefined && history === true)
    throw new UsageFailure("--history: goes with --apply; a plan has the history where the source says it");
  if (apply === undefined && flags.policies === true)
    throw new UsageFailure("--policies: goes with --apply; a plan has the rules that are read");
  if (!hasNamespaces && flags.policies === true) throw new UsageFailure(`--policies: rules of ${kind} are not read`);
  if (apply === undefined && flags.public === true)
    throw new UsageFailure("--public: goes with --apply; a plan says what is public");
  if (!hasNamespaces && flags.public === true)
    throw new UsageFailure(`--public: what is public in ${kind} is not read`);
  if (apply === undefined && flags.secrets !== undefined)
    throw new UsageFailure("--secrets: goes with --apply; a plan has no secrets");
  if (!hasNamespaces && flags.secrets !== undefined)
    throw new UsageFailure(`--secrets: robots of ${kind} are not read`);
  if (apply === undefined && flags.pullUsername !== undefined)
    throw new UsageFailure("--pull-username: goes with --apply; a plan is read with --username");
  if (plan === undefined && names !== undefined)
    throw new UsageFailure("--names: goes with --plan; the plan has the names");
  if (plan === undefined && flags.username !== undefined)
    throw new UsageFailure("--username: goes with --plan; the server pulls with --pull-username");
  for (const [one, other, text] of [
    [flags.username, flags.passwordFile, "--username and --password-file"],
    [flags.pullUsername, flags.pullPasswordFile, "--pull-username and --pull-password-file"],
  ])
    if ((one === undefined) !== (other === undefined)) throw new UsageFailure(`${text} go together`);
}

function checkIssuer(kind: SourceKind, { issuer, plan }: MoveInFlags): void {
  if (issuer === undefined) return;
  if (kind !== "harbor" && kind !== "quay") throw new UsageFailure(`--issuer: members of ${kind} are not read`);
  if (plan === undefined) throw new UsageFailure("--issuer: goes with --plan; a plan has who is known here");
  if (!/^https?:$/.test(URL.parse(issuer)?.protocol ?? ""))
    throw new UsageFailure(`--issuer: ${issuer} is not a valid URL`);
}

/** A folder has no password, and nothing follows it. */
function checkFolderFlags(flags: MoveInFlags): void {
  const wrong = (
    [
      ["--username", flags.username],
      ["--pull-username", flags.pullUsername],
      ["--finish", flags.finish],
    ] as const
  ).find(([, value]) => value !== undefined);
  if (wrong !== undefined) throw new UsageFailure(`${wrong[0]}: a folder is read as it is; nothing follows it`);
}

/** Packages are copied by this command, with their times: nothing follows them. */
function checkPackageFlags(kind: PackageKind, { finish, history, blobsFrom }: MoveInFlags): void {
  // Images of an Artifactory follow it until then.
  if (finish === true && kind !== "artifactory")
    throw new UsageFailure("--finish: packages are copied once; nothing follows them");
  if (history === true) throw new UsageFailure("--history: packages always come with the times of their versions");
  if (blobsFrom !== undefined) throw new UsageFailure(`--blobs-from: is not for ${kind}`);
}

function checkBlobsFrom(kind: SourceKind, { blobsFrom, apply }: MoveInFlags): void {
  if (blobsFrom === undefined) return;
  if (apply === undefined) throw new UsageFailure("--blobs-from: goes with --apply; a plan only reads");
  if (kind === "distribution") throw new UsageFailure("--blobs-from: the folder is named already");
  isBucket(blobsFrom);
}

/** Whether a place is a bucket of S3, by its URL. Throws a UsageFailure for every other kind of URL. */
export function isBucket(place: string): boolean {
  const [, scheme] = /^([a-z0-9+.-]+):\/\//i.exec(place) ?? [];
  if (scheme === undefined || scheme.toLowerCase() === "s3") return scheme !== undefined;
  throw new UsageFailure(`${place}: only folders of this machine and buckets of S3 are read; it comes as oci`);
}

/** The user name of a flag and the password in a file. Throws a UsageFailure. */
export async function credentialsOf(
  username: string | undefined,
  file: string | undefined,
  flag: string,
): Promise<Credentials> {
  if (username === undefined || file === undefined) return { username: "", password: "" };
  const password = (await readText(flag, file, MAX_PASSWORD_BYTES)).replace(/\r?\n$/, "");
  if (password === "") throw new UsageFailure(`${flag}: ${file} is empty`);
  return { username, password };
}

/** The names in the file of `--names`, one a line; `#` begins a comment. Throws a UsageFailure. */
export async function namesOf(file: string | undefined): Promise<string[] | undefined> {
  if (file === undefined) return undefined;
  const lines = (await readText("--names", file, MAX_NAMES_BYTES)).split("\n").map((line) => line.trim());
  const names = [...new Set(lines.filter((line) => line !== "" && !line.startsWith("#")))];
  if (names.length === 0) throw new UsageFailure(`--names: ${file} names no repository`);
  return names;
}

async function readText(flag: string, file: string, maxBytes: number): Promise<string> {
  try {
    const handle = await open(file, "r");
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, null);
      if (bytesRead > maxBytes) throw new UsageFailure(`${flag}: ${file} is larger than ${maxBytes} bytes`);
      return buffer.subarray(0, bytesRead).toString();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof UsageFailure) throw cause;
    throw new UsageFailure(
      `${flag}: ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}
