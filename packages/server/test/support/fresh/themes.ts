import type { Dice } from "../dice.ts";
import { pushImage, setTag, type Writer } from "./changes.ts";
import type { Connection, Reply } from "./connections.ts";
import type { House } from "./house.ts";
import { digestOf, type Image, imageOf, jsonOf, MANIFEST, pathOf, type Repo, type World } from "./world.ts";

/**
 * One thing that is written again and again, and how it is read meanwhile. A read that begins when the nth write has
 * been answered must show what that write left, or a later one.
 */
export interface Theme {
  name: string;
  /** What a read shows after the nth write; the first is 1. Before it, `after(0)`. */
  after(n: number): string;
  write(n: number): Promise<void>;
  reads: ((connection: Connection) => Promise<string>)[];
}

/** Writes so many times, while readers read. Returns how many answers there were, and the first that is wrong. */
export async function runTheme(
  { name, after, write, reads }: Theme,
  writes: number,
  connections: readonly Connection[],
  dice: Dice,
): Promise<{ answers: number; wrong: string | undefined }> {
  let begun = 0;
  let done = 0;
  let isOver = false;
  let answers = 0;
  let wrong: string | undefined;
  const reading = async (read: Theme["reads"][number], at: number): Promise<void> => {
    while (!isOver && wrong === undefined) {
      const connection = dice.pick(connections);
      const from = done;
      const shown = await read(connection);
      answers += 1;
      const right = Array.from({ length: begun - from + 1 }, (_, ahead) => after(from + ahead));
      if (!right.includes(shown))
        wrong ??= `${name}, read ${at + 1} on ${connection.name}: write ${from} of ${begun} had been answered; it shows ${shown} in place of ${right.join(" or ")}`;
    }
  };
  const readers = Promise.all(reads.map(reading));
  readers.catch(() => {});
  for (let n = 1; n <= writes && wrong === undefined; n += 1) {
    begun = n;
    await write(n);
    done = n;
    // As soon as the write was answered, every process is asked.
    const shown = await Promise.all(
      connections.map(async (connection) => ({ connection, text: await dice.pick(reads)(connection) })),
    );
    answers += shown.length;
    const stale = shown.find(({ text }) => text !== after(n));
    if (stale !== undefined)
      wrong ??= `${name}, ${stale.connection.name}: write ${n} had been answered; it shows ${stale.text} in place of ${after(n)}`;
  }
  isOver = true;
  await readers;
  return { answers, wrong };
}

/** What is written and read concurrently: rights, identities, tags, manifests, repos and their fields. */
export async function themesOf(house: House, writer: Writer, world: World): Promise<Theme[]> {
  const { organization, roles, changing } = world;
  const platform = await house.tokenOf("platform", house.owner);
  const registry = await house.tokenOf("registry", house.owner);
  const create = async (path: string, body: object): Promise<string> =>
    (await writer.rest("POST", path, body))?.uid ?? "";
  const repoNamed = async (name: string): Promise<Repo> => {
    const repo: Repo = { uid: "", names: [name, name], above: organization, tags: new Map(), policy: false };
    repo.uid = await create(`/registry/v2/repos/${organization.uid}`, { name });
    return repo;
  };
  const person = async (name: string): Promise<{ uid: string; platform: string; registry: string }> => {
    const uid = await create(`/iam/v2/identities/${organization.uid}`, { name });
    return { uid, platform: await house.tokenOf("platform", uid), registry: await house.tokenOf("registry", uid) };
  };
  const bind = (identityUid: string, roleUid: string): Promise<string> =>
    create(`/iam/v2/roleBindings/${organization.uid}`, { identityUid, roleUid });
  const get =
    (path: () => string, authorization: () => string, shown: (reply: Reply) => string) =>
    async (connection: Connection): Promise<string> =>
      shown(await connection.ask({ method: "GET", path: path(), headers: { authorization: authorization() } }));
  const status = ({ status: code }: Reply): string => String(code);
  /** Without the right a resource of the API is not found, and the registry answers 403. */
  const orDenied = ({ status: code }: Reply): string =>
    code === 200 ? "allowed" : code === 403 || code === 404 ? "denied" : String(code);
  const themes: Theme[] = [];

  const image = imageOf("themes");
  const [app, coming] = [await repoNamed("theme-app"), await repoNamed("theme-coming")];
  await pushImage(writer, app, image, "v1");
  const byTag = `/v2/${pathOf(app)}/manifests/v1`;
  const byDigest = `/v2/${pathOf(app)}/manifests/${image.digest}`;

  const versions: Image[] = [];
  const version = (n: number): Image => (versions[n] ??= annotated(image, n));
  for (const each of ["moving", "shown"]) await pushImage(writer, app, version(0), each);
  await setTag(writer, app, "moving", version(0).digest);
  const digestShown = ({ headers }: Reply): string => headers["docker-content-digest"] ?? "";
  themes.push({
    name: "a tag moves",
    after: (n) => version(n).digest,
    write: (n) => pushImage(writer, app, version(n), "moving"),
    reads: [
      get(
        () => `/v2/${pathOf(app)}/manifests/moving`,
        () => registry,
        digestShown,
      ),
      get(
        () => `/registry/v2/tags/${app.tags.get("moving") ?? ""}`,
        () => platform,
        (reply) => jsonOf<{ digest: string }>(reply).digest,
      ),
      get(
        () => `/registry/v2/tags?uidp.children_of=${app.uid}&name=moving`,
        () => platform,
        (reply) =>
          jsonOf<{ tags: { digest: string }[] }>(reply)
            .tags.map(({ digest }) => digest)
            .join(),
      ),
    ],
  });

  const bound = await person("theme-bound");
  let binding = await bind(bound.uid, roles.get("viewer") ?? "");
  themes.push({
    name: "a role binding comes and goes",
    after: (n) => (n % 2 === 0 ? "allowed" : "denied"),
    async write(n) {
      if (n % 2 === 0) binding = await bind(bound.uid, roles.get("viewer") ?? "");
      else await writer.rest("DELETE", `/iam/v2/roleBindings/${binding}`);
    },
    reads: [
      get(
        () => byTag,
        () => bound.registry,
        orDenied,
      ),
      get(
        () => byDigest,
        () => bound.registry,
        orDenied,
      ),
      get(
        () => `/registry/v2/repos/${app.uid}`,
        () => bound.platform,
        orDenied,
      ),
    ],
  });

  const holder = await person("theme-holder");
  await writer.rest("PATCH", `/iam/v2/roles/${changing}`, { capabilities: PULL });
  await bind(holder.uid, changing);
  themes.push({
    name: "a role's capabilities come and go",
    after: (n) => (n % 2 === 0 ? "allowed" : "denied"),
    write: async (n) =>
      void (await writer.rest("PATCH", `/iam/v2/roles/${changing}`, { capabilities: n % 2 === 0 ? PULL : [] })),
    reads: [
      get(
        () => byTag,
        () => holder.registry,
        orDenied,
      ),
      get(
        () => `/registry/v2/repos/${app.uid}`,
        () => holder.platform,
        orDenied,
      ),
    ],
  });

  let passing = await person("theme-passing");
  themes.push({
    name: "an identity is deleted and another one created",
    after: (n) => (n % 2 === 0 ? "known" : "401"),
    async write(n) {
      if (n % 2 === 0) passing = await person("theme-passing");
      else await writer.rest("DELETE", `/iam/v2/identities/${passing.uid}`);
    },
    reads: [
      get(
        () => byTag,
        () => passing.registry,
        ({ status: code }) => (code === 401 ? "401" : "known"),
      ),
      get(
        () => "/iam/v2/groups",
        () => passing.platform,
        ({ status: code }) => (code === 401 ? "401" : "known"),
      ),
    ],
  });

  themes.push({
    name: "a description changes",
    after: (n) => (n === 0 ? "" : `description ${n}`),
    write: async (n) =>
      void (await writer.rest("PATCH", `/registry/v2/repos/${app.uid}`, { description: `description ${n}` })),
    reads: [
      get(
        () => `/registry/v2/repos/${app.uid}`,
        () => platform,
        (reply) => jsonOf<{ description?: string }>(reply).description ?? "",
      ),
      get(
        () => "/registry/v2/repos?name=theme-app",
        () => platform,
        (reply) => jsonOf<{ repos: { description?: string }[] }>(reply).repos[0]?.description ?? "",
      ),
    ],
  });

  const fleeting = annotated(image, -1);
  await pushImage(writer, app, fleeting);
  themes.push({
    name: "a manifest is deleted and pushed again",
    after: (n) => (n % 2 === 0 ? "200" : "404"),
    write: async (n) =>
      n % 2 === 0
        ? pushImage(writer, app, fleeting)
        : void (await writer.push("DELETE", `/v2/${pathOf(app)}/manifests/${fleeting.digest}`)),
    reads: [
      get(
        () => `/v2/${pathOf(app)}/manifests/${fleeting.digest}`,
        () => registry,
        status,
      ),
    ],
  });

  themes.push({
    name: "a repo is deleted and created again",
    after: (n) => (n % 2 === 0 ? "1" : "0"),
    async write(n) {
      if (n % 2 === 0) coming.uid = (await repoNamed("theme-coming")).uid;
      else await writer.rest("DELETE", `/registry/v2/repos/${coming.uid}`);
    },
    reads: [
      get(
        () => `/v2/${pathOf(coming)}/tags/list`,
        () => registry,
        ({ status: code }) => (code === 200 ? "1" : "0"),
      ),
      get(
        () => "/registry/v2/repos?name=theme-coming",
        () => platform,
        (reply) => jsonOf<{ totalCount: string }>(reply).totalCount,
      ),
    ],
  });
  return themes;
}

const PULL = ["CAP_REPO_LIST", "CAP_MANIFEST_LIST", "CAP_REPO_BLOBS_GET", "CAP_TAG_LIST"];

/** The image with another digest and the same blobs. */
function annotated({ body, blobs }: Image, n: number): Image {
  const text = JSON.stringify({ ...(JSON.parse(body) as object), annotations: { version: String(n) } });
  return { type: MANIFEST, body: text, digest: digestOf(text), blobs: n <= 0 ? blobs : [] };
}
