// Parts 3 and 4: two builds under one tag, the tag's history, a pull by the first digest, and anonymous pulls.
import { buildSampleImage } from "../oci/image.ts";
import { openRegistry, RegistryError, type Registry } from "../oci/registry.ts";
import { expect, heading, show, table } from "./show.ts";
import { restOk, type Stage } from "./stage.ts";

type History = { history: { updateTimestamp: string; digest: string }[] };
type Index = { manifests: { digest: string; platform: { architecture: string } }[] };
type Manifest = { config: { digest: string }; layers: { digest: string }[] };

/**
 * Pulls an image like a client does: the index, each architecture's manifest, its config and layers; every digest is
 * checked.
 */
async function pull(
  registry: Registry,
  repository: string,
  reference: string,
): Promise<{ digest: string; architectures: string[]; bytes: number }> {
  const index = await registry.pullManifest(repository, reference);
  const { manifests } = JSON.parse(index.bytes.toString()) as Index;
  let bytes = index.bytes.length;
  for (const { digest } of manifests) {
    const manifest = await registry.pullManifest(repository, digest);
    const { config, layers } = JSON.parse(manifest.bytes.toString()) as Manifest;
    const blobs = await Promise.all([config, ...layers].map((blob) => registry.pullBlob(repository, blob.digest)));
    bytes += blobs.reduce((sum, blob) => sum + blob.bytes.length, manifest.bytes.length);
  }
  return { digest: index.digest, architectures: manifests.map(({ platform }) => platform.architecture), bytes };
}

/** Pushes two builds to one tag and pins the first. Returns the pinned reference. */
export async function playHistory({ url, token, registryToken, bootstrap: { organization } }: Stage): Promise<string> {
  heading("3. Push an image, move its tag, read the tag's history, pin by digest");
  const registry = openRegistry({ url, password: token });
  const repository = `${organization.name}/hello`;
  for (const build of [1, 2]) {
    const digest = await registry.pushImage(repository, "latest", await buildSampleImage(build));
    show(`push build ${build} (amd64, arm64) to ${repository}:latest`, digest.slice(0, 26));
  }
  const path = `/v2/${repository}/_service/history/latest`;
  const { history } = await restOk<History>(`${url}${path}`, "GET", registryToken);
  show(`GET ${path}`, `${history.length} records, oldest first`);
  table(
    ["updateTimestamp", "digest"],
    history.map(({ updateTimestamp, digest }) => [updateTimestamp, digest]),
  );
  const [first, second] = history;
  expect(
    history.length === 2 && first !== undefined && second !== undefined,
    "the history does not hold the two pushes",
  );
  const pinned = await pull(registry, repository, first.digest);
  show(
    "pull by the first digest",
    `${pinned.architectures.join(" and ")}, ${pinned.bytes} bytes, every digest checked`,
  );
  const latest = await registry.pullManifest(repository, "latest");
  expect(latest.digest === second.digest && latest.digest !== first.digest, "latest is not the second build");
  show("pull latest", "is build 2: a tag moves, a digest does not");
  return `${new URL(url).host}/${repository}@${first.digest}`;
}

/** What an anonymous caller may pull. */
export async function playPublic({
  url,
  token,
  registryToken,
  bootstrap: { publicOrganization },
}: Stage): Promise<void> {
  heading("4. Without a token: a public image");
  const repository = `${publicOrganization.name}/hello`;
  const owner = openRegistry({ url, password: token });
  await owner.pushImage(repository, "nightly", await buildSampleImage(3));
  for (const build of [1, 2]) await owner.pushImage(repository, "latest", await buildSampleImage(build));
  show(`the owner pushes ${repository}:nightly, and two builds to :latest`, "done");
  const anonymous = openRegistry({ url });
  const latest = await pull(anonymous, repository, "latest");
  show(`anonymous: pull ${repository}:latest`, `${latest.architectures.join(" and ")}, ${latest.digest.slice(0, 26)}`);
  const { history } = (await anonymous.getJson(repository, "_service/history/latest")) as History;
  const [first] = history;
  expect(history.length === 2 && first !== undefined, "the public history does not hold the two pushes");
  await pull(anonymous, repository, first.digest);
  show(
    "anonymous: the history of latest, pull by its first digest",
    `${history.length} records, ${first.digest.slice(0, 26)}`,
  );
  const rejection = await anonymous.pullManifest(repository, "nightly").then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(
    rejection instanceof RegistryError && [401, 403, 404].includes(rejection.status),
    "nightly was not refused to the anonymous",
  );
  show(`anonymous: pull ${repository}:nightly`, `refused: HTTP ${rejection.status} ${rejection.code}`);
  await restOk(`${url}/v2/${repository}/_service/history/nightly`, "GET", registryToken);
  show("the owner reads the history of nightly", "allowed");
}
