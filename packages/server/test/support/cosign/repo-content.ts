// What a repo holds, as text for a file, and a repo with the same content.
import type { Platform } from "../platform.ts";
import type { SignedRepo } from "../signed-repo.ts";

/** A manifest with the content that it names, by its digests, which is in base64 unless it is text. */
interface RecordedManifest {
  digest: string;
  mediaType: string;
  content: string;
}

export interface RecordedRepo {
  manifests: readonly RecordedManifest[];
  tags: Readonly<Record<string, string>>;
}

/** Texts by their digests. */
export type Contents = Record<string, string>;

interface Named {
  config?: { digest: string };
  layers?: { digest: string }[];
  subject?: { digest: string };
  manifests?: { digest: string }[];
}

const blobsOf = ({ content }: RecordedManifest): string[] => {
  const { config, layers = [] } = JSON.parse(content) as Named;
  return [...(config === undefined ? [] : [config]), ...layers].map(({ digest }) => digest);
};

const blobPath = ({ url, name }: SignedRepo, digest: string): string => `${url}/v2/${name}/blobs/${digest}`;

/** Everything in the repo; contents of its manifests are put into `contents`. */
export async function recordRepo(platform: Platform, repo: SignedRepo, contents: Contents): Promise<RecordedRepo> {
  const { reader } = platform;
  const rows = await reader.selectFrom("manifests").selectAll().where("repo", "=", repo.repo).execute();
  const manifests = rows.map(({ digest, media_type, content }) => ({
    digest,
    mediaType: media_type,
    content: Buffer.from(content).toString("utf8"),
  }));
  // What names others comes after them.
  const names = ({ content }: RecordedManifest): number => {
    const { subject, manifests: named } = JSON.parse(content) as Named;
    return subject === undefined ? (named === undefined ? 0 : 1) : 2;
  };
  manifests.sort((one, other) => names(one) - names(other) || one.digest.localeCompare(other.digest));
  for (const digest of new Set(manifests.flatMap(blobsOf))) {
    const answer = await fetch(blobPath(repo, digest), { headers: { authorization: `Bearer ${repo.token}` } });
    contents[digest] = Buffer.from(await answer.arrayBuffer()).toString("utf8");
  }
  const tags = await reader.selectFrom("tags").select(["name", "digest"]).where("parent", "=", repo.repo).execute();
  return { manifests, tags: Object.fromEntries(tags.map(({ name, digest }) => [name, digest]).sort()) };
}

/** Pushes what was recorded. */
export async function pushRecorded(
  repo: SignedRepo,
  { manifests, tags }: RecordedRepo,
  contents: Contents,
): Promise<void> {
  const send = async (method: string, path: string, body: string, type = "application/octet-stream"): Promise<void> => {
    const answer = await fetch(`${repo.url}/v2/${repo.name}/${path}`, {
      method,
      body,
      headers: { authorization: `Bearer ${repo.token}`, "content-type": type },
    });
    if (answer.status !== 201) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };
  for (const digest of new Set(manifests.flatMap(blobsOf)))
    await send("POST", `blobs/uploads/?digest=${digest}`, contents[digest] ?? "");
  for (const { digest, mediaType, content } of manifests) {
    await send("PUT", `manifests/${digest}`, content, mediaType);
    for (const [tag, of] of Object.entries(tags))
      if (of === digest) await send("PUT", `manifests/${tag}`, content, mediaType);
  }
}
