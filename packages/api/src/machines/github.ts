import type { FormResult, FormValues, FormWarning, MachineForm, Problems, Snippet, SnippetPlace } from "./form.ts";
import {
  askedAudience,
  AUDIENCE,
  audienceOf,
  BRANCH,
  branchOrTag,
  globPattern,
  globWarning,
  imageOf,
  issuerField,
  issuerOf,
  literal,
  loginLine,
  refWords,
  TAG,
  yamlText,
} from "./parts.ts";

const ISSUER = "https://token.actions.githubusercontent.com";

/**
 * The events that only somebody who may write to the repository causes. Left out are pull_request_target, workflow_run,
 * issues and comments, whose jobs have a token of the default branch and may be caused by anybody.
 */
const EVENTS = "push|schedule|workflow_dispatch|repository_dispatch|release|create|deployment|merge_group";

const ID = { form: /^\d{1,20}$/, what: "a number" };

/**
 * Jobs of GitHub Actions, on github.com, on ghe.com and on a GitHub Enterprise Server.
 *
 * - Subjects: `repo:OWNER/NAME:ref:refs/heads/BRANCH`, `…:ref:refs/tags/TAG`, `…:environment:NAME` where the job names
 *   an environment, `…:pull_request`. Repositories that were made, renamed or moved after July 15, 2026 have the
 *   numbers of owner and repository in it: `repo:OWNER@1/NAME@2:…`. A colon in a name is written `%3A`.
 * - Issuers: `https://token.actions.githubusercontent.com`; `https://token.actions.SUBDOMAIN.ghe.com`;
 *   `https://HOST/_services/token` of a server of one's own.
 *
 * Source: https://docs.github.com/en/actions/reference/security/oidc
 */
export const GITHUB: MachineForm = {
  name: "github",
  title: "GitHub Actions",
  fields: [
    { name: "repository", label: "Repository", help: "owner/name, such as acme/app" },
    BRANCH,
    TAG,
    { name: "environment", label: "Environment", help: "that the job names, such as production" },
    {
      name: "pullRequests",
      label: "Pull requests",
      help: "jobs of pull requests, in place of a branch",
      kind: "check",
    },
    { name: "repositoryId", label: "Repository ID", help: "its number, which nobody else gets when the name is free" },
    { name: "ownerId", label: "Owner ID", help: "the number of its owner" },
    issuerField("of a GitHub Enterprise Server: https://HOST/_services/token"),
    AUDIENCE,
  ],
  read,
  snippet,
};

function read(values: FormValues, problems: Problems): FormResult {
  const repository = problems.exact(values, {
    name: "repository",
    form: /^[\w-]{1,100}\/[\w.-]{1,100}$/,
    what: "owner/name of one repository",
  });
  const [owner = "", name = ""] = repository.split("/");
  const { branch, tag } = branchOrTag(values, problems);
  const { environment = "" } = values;
  const isPull = values["pullRequests"] === "true";
  const repositoryId = problems.optional(values, { name: "repositoryId", ...ID });
  const ownerId = problems.optional(values, { name: "ownerId", ...ID });
  if (environment.includes("*")) problems.add("environment", "must be the name of one environment");
  if (isPull && branch + tag + environment !== "")
    problems.add("pullRequests", "stand alone: make another identity for a branch, a tag or an environment");
  if (!isPull && branch + tag + environment === "")
    problems.add("branch", "is required, or a tag, an environment or pull requests; any branch is **");

  const numbered = (id: string | undefined): string => `(@${id ?? "[0-9]+"})?`;
  const ref = branch !== "" ? `refs/heads/${branch}` : tag !== "" ? `refs/tags/${tag}` : "";
  const rest = isPull
    ? "pull_request"
    : environment !== ""
      ? `environment:${literal(environment).replaceAll(":", "(:|%3A)")}`
      : `ref:${globPattern(ref)}`;
  const [refClaims, refPatterns] =
    ref === "" ? [{}, {}] : ref.includes("*") ? [{}, { ref: globPattern(ref) }] : [{ ref }, {}];
  const warnings: FormWarning[] = [];
  if (isPull)
    warnings.push({
      text: "A pull request runs what its author wrote: give this identity a role that only pulls. Those of forks get no token unless the repository's settings send write tokens to them; leave that off.",
    });
  if (branch.includes("*")) warnings.push(globWarning("branch", branch));
  if (tag.includes("*")) warnings.push(globWarning("tag", tag));
  if (environment !== "" && ref === "")
    warnings.push({
      text: `Every branch whose workflow names the environment ${environment} can log in, unless the environment's settings at GitHub limit its branches.`,
    });
  if (repositoryId === undefined && ownerId === undefined)
    warnings.push({
      text: `Whoever gets the name ${repository} after it was given up can log in. The numbers of repository and owner prevent that.`,
      command: `gh api repos/${repository} --jq '.id, .owner.id'`,
    });
  return {
    match: {
      issuer: issuerOf(values, problems, ISSUER),
      subjectPattern: `repo:${literal(owner)}${numbered(ownerId)}/${literal(name)}${numbered(repositoryId)}:${rest}`,
      ...audienceOf(values, problems),
      claims: {
        repository,
        ...(repositoryId !== undefined && { repository_id: repositoryId }),
        ...(ownerId !== undefined && { repository_owner_id: ownerId }),
        ...(environment !== "" && { environment }),
        ...(isPull && { event_name: "pull_request" }),
        ...refClaims,
      },
      claimPatterns: { ...(!isPull && { event_name: EVENTS }), ...refPatterns },
    },
    accepts: `GitHub Actions, of jobs of the repository ${repository} ${placeWords(values)}`,
    warnings,
  };
}

function placeWords({ branch = "", tag = "", environment = "", pullRequests }: FormValues): string {
  if (pullRequests === "true") return "for pull requests.";
  const where = branch !== "" ? [`on ${refWords("branch", branch)}`] : tag !== "" ? [`on ${refWords("tag", tag)}`] : [];
  if (environment !== "") where.push(`in the environment ${environment}`);
  return `${where.join(" ")}, caused by who may write to it; not of pull requests.`;
}

function snippet(values: FormValues, place: SnippetPlace): Snippet {
  const { repository = "", branch = "", tag = "", environment = "", pullRequests } = values;
  const image = imageOf(place, repository.split("/").at(-1) ?? "");
  const on =
    pullRequests === "true"
      ? ["  pull_request:"]
      : tag !== ""
        ? ["  push:", `    tags: [${JSON.stringify(tag)}]`]
        : ["  push:", `    branches: [${JSON.stringify(branch === "" ? "main" : branch)}]`];
  const audience = encodeURIComponent(askedAudience(values, place));
  const isPull = pullRequests === "true";
  return {
    where: `.github/workflows/${isPull ? "pull" : "push"}.yml`,
    text: [
      `name: ${isPull ? "pull" : "push"}`,
      "on:",
      ...on,
      "permissions:",
      "  contents: read",
      "  id-token: write # lets the job ask GitHub for its token",
      "jobs:",
      `  ${isPull ? "pull" : "push"}:`,
      "    runs-on: ubuntu-latest",
      ...(environment === "" ? [] : [`    environment: ${yamlText(environment)}`]),
      "    steps:",
      "      - uses: actions/checkout@v4",
      ...(isPull ? [] : [`      - run: docker build -t ${image} .`]),
      "      - run: | # the token lives for minutes: log in right before it is needed",
      '          curl -fsS -H "Authorization: bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\',
      `            "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${audience}" | jq -r .value |`,
      `            ${loginLine(place)}`,
      `          docker ${isPull ? "pull" : "push"} ${image}`,
    ].join("\n"),
  };
}
