import type { Dice } from "../dice.ts";
import type { Connection, Reply } from "./connections.ts";
import type { House } from "./house.ts";
import type { About } from "./questions.ts";
import {
  digestOf,
  type Group,
  type Image,
  imageOf,
  jsonOf,
  LOOSE,
  pathOf,
  type Repo,
  TAGS,
  type World,
} from "./world.ts";

/** A write: what it changes the answers about, and how it is done. */
export interface Change {
  name: string;
  about: About;
  /** Whether no other change may run beside it: what moves paths. */
  isAlone?: boolean;
  run(): Promise<void>;
}

/** Writes as the owner, through connections that the dice chooses. */
export interface Writer {
  /** A write by REST. Undefined when it was refused, as a protected tag's is. Throws for other failures. */
  rest(method: string, path: string, body?: object): Promise<{ uid: string } | undefined>;
  /** A write to the registry. */
  push(method: string, path: string, body?: string, type?: string): Promise<Reply>;
}

export function writerOf(
  { platform, registry }: { platform: string; registry: string },
  connection: () => Connection,
): Writer {
  const ask = async (
    authorization: string,
    method: string,
    path: string,
    body?: string,
    type?: string,
  ): Promise<Reply> => {
    const headers = { authorization, ...(type !== undefined && { "content-type": type }) };
    const reply = await connection().ask({ method, path, headers, ...(body !== undefined && { body }) });
    if (reply.status >= 500 || reply.status === 401 || reply.status === 403)
      throw new Error(`${method} ${path}: ${reply.status} ${reply.body.toString()}`);
    return reply;
  };
  return {
    async rest(method, path, body) {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const reply = await ask(platform, method, path, text, text === undefined ? undefined : "application/json");
      if (reply.status !== 200) return undefined;
      // A delete is answered without a body.
      return reply.body.length === 0 ? { uid: "" } : jsonOf<{ uid: string }>(reply);
    },
    push: (method, path, body, type = "application/octet-stream") =>
      ask(registry, method, path, body, body === undefined ? undefined : type),
  };
}

/** Pushes what the image needs and the image, under a tag or by its digest. */
export async function pushImage(writer: Writer, repo: Repo, image: Image, reference = image.digest): Promise<void> {
  const path = `/v2/${pathOf(repo)}`;
  await Promise.all(
    image.blobs.map((blob) => writer.push("POST", `${path}/blobs/uploads/?digest=${digestOf(blob)}`, blob)),
  );
  await writer.push("PUT", `${path}/manifests/${reference}`, image.body, image.type);
}

export async function setTag(writer: Writer, repo: Repo, name: string, digest: string): Promise<void> {
  const made = await writer.rest("POST", `/registry/v2/tags/${repo.uid}`, { name, digest });
  if (made !== undefined) repo.tags.set(name, made.uid);
}

/** A new repo with some of the images and tags. */
export async function fillRepo(writer: Writer, { images, index }: World, repo: Repo, dice: Dice): Promise<void> {
  const pushed = images.filter(() => dice.chance(0.8));
  const tagged = TAGS.filter(() => dice.chance(0.7)).map((tag) => ({ tag, digest: dice.pick(images).digest }));
  const made = await writer.rest("POST", `/registry/v2/repos/${repo.above.uid}`, { name: repo.names[0] });
  if (made === undefined) return;
  repo.uid = made.uid;
  await Promise.all(pushed.map((image) => pushImage(writer, repo, image)));
  await Promise.all([
    pushImage(writer, repo, index),
    ...tagged.map(({ tag, digest }) => setTag(writer, repo, tag, digest)),
  ]);
}

/** Chooses what to write next. */
export function changeOf(world: World, house: House, writer: Writer, dice: Dice): Change {
  const { repos, groups, open } = world;
  const repo = dice.pick(repos);
  const kind = dice.below(100);
  if (kind < 16) return bindingChange(world, writer, dice);
  if (kind < 22) return roleChange(world, writer, dice);
  if (kind < 29) return identityChange(world, house, writer);
  if (kind < 34) {
    const group = dice.pick([open, ...groups.filter(({ above }) => above !== undefined)]);
    return renaming(group, repos.filter(isBelow(group)), dice, (name) =>
      writer.rest("PATCH", `/iam/v2/groups/${group.uid}`, { name }),
    );
  }
  if (kind < 38)
    return renaming(repo, [repo], dice, (name) => writer.rest("PATCH", `/registry/v2/repos/${repo.uid}`, { name }));
  if (kind < 41) return describing(repo, writer, dice);
  if (kind < 45) return recreating(world, repo, writer, dice);
  return contentChange(world, repo, writer, dice);
}

function bindingChange({ bindings, actors, roles, changing }: World, writer: Writer, dice: Dice): Change {
  const binding = dice.pick(bindings);
  const about = { actor: actors.get(binding.actor) };
  const { uid } = binding;
  if (uid !== "" && dice.chance(0.3)) {
    const role = dice.pick([...roles.keys(), "changing"]);
    return {
      name: `the binding of ${binding.actor} on ${pathOf(binding.group)} is of the role ${role}`,
      about,
      async run() {
        await writer.rest("PATCH", `/iam/v2/roleBindings/${uid}`, { roleUid: roles.get(role) ?? changing });
      },
    };
  }
  return {
    name: `${binding.actor} ${uid === "" ? "gets" : "loses"} the role ${binding.role} on ${pathOf(binding.group)}`,
    about,
    async run() {
      if (uid === "") {
        const body = { identityUid: about.actor?.uid ?? "", roleUid: roles.get(binding.role) ?? changing };
        binding.uid = (await writer.rest("POST", `/iam/v2/roleBindings/${binding.group.uid}`, body))?.uid ?? "";
      } else {
        await writer.rest("DELETE", `/iam/v2/roleBindings/${uid}`);
        binding.uid = "";
      }
    },
  };
}

const CHANGING = [
  "CAP_REPO_LIST",
  "CAP_MANIFEST_LIST",
  "CAP_REPO_BLOBS_GET",
  "CAP_TAG_LIST",
  "CAP_REFERRERS_LIST",
  "CAP_MANIFEST_METADATA_LIST",
  "CAP_IAM_GROUPS_LIST",
  "CAP_IAM_ROLES_LIST",
  "CAP_IAM_IDENTITY_LIST",
  "CAP_IAM_ROLE_BINDINGS_LIST",
];

function roleChange({ actors, changing }: World, writer: Writer, dice: Dice): Change {
  const capabilities = CHANGING.filter(() => dice.chance(0.7));
  return {
    name: `the changing role has ${capabilities.join(", ")}`,
    about: { actor: actors.get("changing") },
    async run() {
      await writer.rest("PATCH", `/iam/v2/roles/${changing}`, { capabilities });
    },
  };
}

/** The identity is deleted, whose tokens are asked with as before, or created again, with new tokens. */
function identityChange({ actors, bindings, organization }: World, house: House, writer: Writer): Change {
  const actor = actors.get("leaver");
  const binding = bindings.find((each) => each.actor === "leaver");
  if (actor === undefined || binding === undefined) throw new Error("there is no leaver");
  const { uid } = actor;
  if (uid !== "")
    return {
      name: "the leaver is deleted",
      about: { actor },
      async run() {
        await writer.rest("DELETE", `/iam/v2/identities/${uid}`);
        actor.uid = "";
        binding.uid = "";
      },
    };
  return {
    name: "the leaver is created again, without rights",
    about: { actor },
    async run() {
      const made = await writer.rest("POST", `/iam/v2/identities/${organization.uid}`, { name: "leaver" });
      actor.uid = made?.uid ?? "";
      actor.platform = await house.tokenOf("platform", actor.uid);
      actor.registry = await house.tokenOf("registry", actor.uid);
    },
  };
}

function renaming(
  named: { names: [string, string] },
  about: readonly Repo[],
  dice: Dice,
  rename: (name: string) => Promise<unknown>,
): Change {
  const [from, to] = named.names;
  return {
    isAlone: true,
    name: `${from} is renamed to ${to}`,
    about: { repo: about.length === 0 ? undefined : dice.pick(about) },
    async run() {
      if ((await rename(to)) !== undefined) named.names = [to, from];
    },
  };
}

function describing({ uid, names: [name] }: Repo, writer: Writer, dice: Dice): Change {
  const text = `described ${dice.below(1000)}`;
  const readme = dice.chance(0.3);
  return {
    name: `the ${readme ? "readme" : "description"} of ${name} is "${text}"`,
    about: {},
    async run() {
      if (readme) await writer.rest("PATCH", `/registry/v2/repos/${uid}/readme`, { content: text });
      else await writer.rest("PATCH", `/registry/v2/repos/${uid}`, { description: text });
    },
  };
}

function recreating(world: World, repo: Repo, writer: Writer, dice: Dice): Change {
  return {
    isAlone: true,
    name: `${pathOf(repo)} is deleted and created again`,
    about: { repo },
    async run() {
      if ((await writer.rest("DELETE", `/registry/v2/repos/${repo.uid}`)) !== undefined)
        await fillRepo(writer, world, repo, dice);
    },
  };
}

function contentChange(world: World, repo: Repo, writer: Writer, dice: Dice): Change {
  const path = `/v2/${pathOf(repo)}`;
  const tag = dice.pick(TAGS);
  const image = dice.pick([...world.images, world.index]);
  const referrer = dice.pick(world.referrers);
  const change = (name: string, run: () => Promise<unknown>): Change => ({
    name: `${pathOf(repo)}: ${name}`,
    about: { repo },
    run: async () => void (await run()),
  });
  switch (dice.below(13)) {
    case 0:
    case 1:
    case 2:
      return change(`${tag} is set to ${image.digest}`, () => setTag(writer, repo, tag, image.digest));
    case 3:
    case 4:
      return change(`${image.digest} is pushed as ${tag}`, () => pushImage(writer, repo, image, tag));
    case 5:
      return change(`${tag} is deleted`, () => writer.push("DELETE", `${path}/manifests/${tag}`));
    case 6:
      return change(`${tag} is deleted by REST`, () =>
        writer.rest("DELETE", `/registry/v2/tags/${repo.tags.get(tag) ?? repo.uid}`),
      );
    case 7:
      return change(`${tag} is promoted to ${image.digest}`, () =>
        writer.rest("POST", `/registry/v2/tags/${repo.uid}:promote`, {
          promotions: [{ name: tag, digest: image.digest }],
        }),
      );
    case 8:
      return change(`${image.digest} is deleted`, () => writer.push("DELETE", `${path}/manifests/${image.digest}`));
    case 9:
      return change(`referrer ${referrer.digest} is pushed`, () => pushImage(writer, repo, referrer));
    case 10:
      return change(`referrer ${referrer.digest} is deleted`, () =>
        writer.push("DELETE", `${path}/manifests/${referrer.digest}`),
      );
    case 11: {
      const deletes = dice.chance(0.5);
      return change(`the loose blob is ${deletes ? "deleted" : "pushed"}`, () =>
        deletes
          ? writer.push("DELETE", `${path}/blobs/${digestOf(LOOSE)}`)
          : writer.push("POST", `${path}/blobs/uploads/?digest=${digestOf(LOOSE)}`, LOOSE),
      );
    }
    default:
      return change(`its policy ${repo.policy ? "ends" : "protects v2"}`, async () => {
        const tagPolicy = repo.policy ? {} : { immutableTags: ["v2"], protectedTags: ["v2"] };
        if ((await writer.rest("PATCH", `/registry/v2/repos/${repo.uid}`, { tagPolicy })) !== undefined)
          repo.policy = !repo.policy;
      });
  }
}

function isBelow(group: Group): (repo: Repo) => boolean {
  return ({ above }) => {
    for (let at: Group | undefined = above; at !== undefined; at = at.above) if (at === group) return true;
    return false;
  };
}

/** More images that refer to the first. */
export function referrersOf(first: Image, count: number): Image[] {
  return Array.from({ length: count }, (_, at) => imageOf(`note ${at}`, first));
}
