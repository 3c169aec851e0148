import type { Dice } from "../dice.ts";
import { fillRepo, referrersOf, type Writer } from "./changes.ts";
import type { House } from "./house.ts";
import { type Actor, type Group, imageOf, indexOf, jsonOf, pathOf, type Repo, type World } from "./world.ts";

/** Creates groups, repos, images and identities with different rights, as the owner. */
export async function founded(house: House, writer: Writer, dice: Dice): Promise<World> {
  const organization: Group = {
    uid: house.organization.uid,
    names: [house.organization.name, "acme-corp"],
    above: undefined,
  };
  const open: Group = { uid: house.open.uid, names: [house.open.name, "published"], above: undefined };
  const create = async (path: string, body: object): Promise<string> => {
    const made = await writer.rest("POST", path, body);
    if (made === undefined) throw new Error(`POST ${path} was refused`);
    return made.uid;
  };
  const groupIn = async (above: Group, name: string): Promise<Group> => ({
    uid: await create(`/iam/v2/groups/${above.uid}`, { name }),
    names: [name, `${name}-two`],
    above,
  });
  const alpha = await groupIn(organization, "alpha");
  const inner = await groupIn(alpha, "inner");
  const beta = await groupIn(organization, "beta");
  const repos = [
    repoIn(alpha, "app"),
    repoIn(inner, "tool"),
    repoIn(inner, "base"),
    repoIn(beta, "app"),
    repoIn(open, "tool"),
  ];
  const images = ["one", "two", "three"].map((seed) => imageOf(seed));
  const [first = imageOf("one"), second = first] = images;

  const { roles: found } = jsonOf<{ roles: { uid: string; name: string }[] }>(
    await house.uncached.ask({
      method: "GET",
      path: "/iam/v2/roles?page_size=200",
      headers: { authorization: await house.tokenOf("platform", house.owner) },
    }),
  );
  const roles = new Map(found.map(({ uid, name }) => [name, uid]));
  const changing = await create(`/iam/v2/roles/${organization.uid}`, {
    name: "changing",
    capabilities: ["CAP_REPO_LIST"],
  });
  const world: World = {
    organization,
    open,
    groups: [organization, alpha, inner, beta, open],
    repos,
    actors: new Map(),
    bindings: [],
    roles,
    changing,
    images,
    referrers: referrersOf(first, 3),
    index: indexOf([first, second]),
    asked: [],
    moments: [],
    etags: new Map(),
    pages: new Map(),
  };
  await Promise.all(repos.map((repo) => fillRepo(writer, world, repo, dice)));
  const [app, tool, , , publicTool] = repos;
  const enter = (actor: Actor): void => void world.actors.set(actor.name, actor);
  const identity = async (name: string, uid: string, home?: Repo): Promise<void> =>
    enter({
      name,
      uid,
      home,
      platform: await house.tokenOf("platform", uid),
      registry: await house.tokenOf("registry", uid),
    });
  await identity("owner", house.owner);
  for (const [name, role, group] of [
    ["viewer", "viewer", alpha],
    ["inner viewer", "viewer", inner],
    ["puller", "registry.pull", organization],
    ["pusher", "registry.push", alpha],
    ["changing", "changing", organization],
    ["leaver", "viewer", organization],
    ["stranger", "", organization],
  ] as const) {
    const uid = await create(`/iam/v2/identities/${organization.uid}`, { name: name.replace(" ", "-") });
    await identity(name, uid, group === inner ? tool : group === alpha ? app : undefined);
    if (role === "") continue;
    const body = { identityUid: uid, roleUid: roles.get(role) ?? changing };
    const binding = await create(`/iam/v2/roleBindings/${group.uid}`, body);
    world.bindings.push({ actor: name, group, role, uid: binding });
  }
  // Tokens that cover one repository; and nobody, with the anonymous token of a public image, and without any.
  const puller = world.actors.get("puller")?.uid ?? "";
  const narrow = app === undefined ? undefined : await house.pullToken(puller, pathOf(app));
  enter({ name: "pull token", uid: puller, platform: narrow, registry: narrow, home: app });
  const anonymous = publicTool === undefined ? undefined : await house.pullToken("", pathOf(publicTool));
  enter({ name: "anonymous", uid: "", platform: anonymous, registry: anonymous, home: publicTool });
  enter({ name: "nobody", uid: "", platform: undefined, registry: undefined });
  return world;
}

function repoIn(above: Group, name: string): Repo {
  return { uid: "", names: [name, `${name}-two`], above, tags: new Map(), policy: false };
}
