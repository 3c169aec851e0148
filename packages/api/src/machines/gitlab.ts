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
  isGlob,
  issuerField,
  issuerOf,
  loginLine,
  refWords,
  subjectOf,
  TAG,
  yamlText,
} from "./parts.ts";

/**
 * How pipelines begin that somebody who may push to the project has caused. Left out are merge requests, which may come
 * from forks, and pipelines that other pipelines begin.
 */
const SOURCES = "push|web|schedule|api|trigger";

/**
 * Jobs of GitLab CI/CD, on gitlab.com and on a GitLab of one's own. The subject is
 * `project_path:GROUP/PROJECT:ref_type:branch:ref:NAME`, unless the project's settings make it otherwise; the issuer is
 * the URL of the GitLab. Tokens of merge requests name the branch as a push to it does, so that `pipeline_source` has
 * to be asked for as well.
 *
 * Source: https://docs.gitlab.com/ci/secrets/id_token_authentication/
 */
export const GITLAB: MachineForm = {
  name: "gitlab",
  title: "GitLab CI/CD",
  fields: [
    { name: "project", label: "Project", help: "its path with all groups, such as acme/team/app" },
    { ...BRANCH, alias: "ref" },
    TAG,
    { name: "environment", label: "Environment", help: "that the job names, such as production" },
    {
      name: "protected",
      label: "Protected branches and tags only",
      help: "jobs of other branches and tags are refused",
      kind: "check",
      initial: "true",
      without: "jobs of branches and tags that are not protected, too",
    },
    { name: "projectId", label: "Project ID", help: "its number, which nobody else gets when the path is free" },
    issuerField("the URL of a GitLab of your own; https://gitlab.com unless given"),
    AUDIENCE,
  ],
  read,
  snippet,
};

function read(values: FormValues, problems: Problems): FormResult {
  const project = problems.exact(values, {
    name: "project",
    form: /^[\w.-]{1,255}(?:\/[\w.-]{1,255}){1,20}$/,
    what: "the path of one project, such as acme/app",
  });
  const { branch, tag } = branchOrTag(values, problems);
  const { environment = "" } = values;
  const projectId = problems.optional(values, { name: "projectId", form: /^\d{1,20}$/, what: "a number" });
  if (environment.includes("*")) problems.add("environment", "must be the name of one environment");
  if (branch + tag + environment === "")
    problems.add("branch", "is required, or a tag or an environment; any branch is **");
  const kind = tag === "" ? "branch" : "tag";
  const ref = branch + tag === "" ? "**" : branch + tag;
  const isProtected = values["protected"] === "true";
  const warnings: FormWarning[] = [];
  if (branch + tag !== "" && isGlob(ref) && !isProtected) warnings.push(globWarning(kind, ref));
  if (!isProtected)
    warnings.push({
      text: "Branches and tags that are not protected are accepted: whoever may push to them can log in.",
    });
  if (projectId === undefined)
    warnings.push({
      text: `Whoever gets the path ${project} after it was given up can log in. The project's ID, on its page, prevents that.`,
    });
  return {
    match: {
      issuer: issuerOf(values, problems, "https://gitlab.com"),
      ...subjectOf(ref, (name) => `project_path:${project}:ref_type:${kind}:ref:${name}`),
      ...audienceOf(values, problems),
      claims: {
        project_path: project,
        ref_type: kind,
        ...(!isGlob(ref) && { ref }),
        ...(projectId !== undefined && { project_id: projectId }),
        ...(environment !== "" && { environment }),
        ...(isProtected && { ref_protected: "true" }),
      },
      claimPatterns: { pipeline_source: SOURCES, ...(isGlob(ref) && { ref: globPattern(ref) }) },
    },
    accepts: `GitLab CI/CD, of jobs of the project ${project} ${placeWords(values)}; not of merge requests.`,
    warnings,
  };
}

function placeWords({ branch = "", tag = "", environment = "", protected: isProtected }: FormValues): string {
  const kind = tag === "" ? "branch" : "tag";
  const where = branch + tag === "" ? "on any branch" : `on ${refWords(kind, branch + tag)}`;
  const secured = isProtected === "true" ? " as long as it is protected" : "";
  return `${where}${secured}${environment === "" ? "" : `, in the environment ${environment}`}`;
}

function snippet(values: FormValues, place: SnippetPlace): Snippet {
  const { project = "", branch = "", tag = "", environment = "" } = values;
  const image = imageOf(place, project.split("/").at(-1) ?? "");
  const ref = branch + tag;
  const variable = tag === "" ? "CI_COMMIT_BRANCH" : "CI_COMMIT_TAG";
  const condition = ref === "" || isGlob(ref) ? `$${variable}` : `$${variable} == "${ref}"`;
  return {
    where: ".gitlab-ci.yml",
    text: [
      "push:",
      "  rules:",
      `    - if: '${condition}'`,
      ...(environment === "" ? [] : [`  environment: ${yamlText(environment)}`]),
      "  id_tokens:",
      "    MOORAGE_ID_TOKEN:",
      `      aud: ${askedAudience(values, place)}`,
      "  script:",
      `    - docker build -t ${image} .`,
      `    - echo "$MOORAGE_ID_TOKEN" | ${loginLine(place)}`,
      `    - docker push ${image}`,
    ].join("\n"),
  };
}
