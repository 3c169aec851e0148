/** What is known of a token when its lines are written. */
export interface TokenPlace {
  /** Such as `https:`. */
  protocol: string;
  /** The registry's host, with its port if it has one. */
  host: string;
  /** The path of a group, such as `acme/team`, whose packages are meant. */
  group: string;
  token: string;
}

/** A text to be copied, and where it goes. */
export interface Line {
  /** What to do with the text. */
  label: string;
  text: string;
}

/** The programs that lines are written for, in the order in which they are shown. */
export const CLIENTS = [
  "docker",
  "podman",
  "helm",
  "npm",
  "pip",
  "Maven",
  "Kubernetes",
  "GitHub Actions",
  "GitLab CI",
  "moorage",
  "Token only",
] as const;
export type ClientName = (typeof CLIENTS)[number];

const SECRET = "MOORAGE_TOKEN";

/** The finished lines for one program. The token is of letters and digits: no shell reads it otherwise. */
export function linesFor(client: ClientName, { protocol, host, group, token }: TokenPlace): Line[] {
  const logIn = (program: string): string => `printf %s '${token}' | ${program} login ${host} -u any --password-stdin`;
  const inJob = `printf %s "$${SECRET}" | docker login ${host} -u any --password-stdin`;
  const npm = `//${host}/npm/${group}/`;
  switch (client) {
    case "docker":
    case "podman":
      return [{ label: `Log ${client} in`, text: logIn(client) }];
    case "helm":
      return [{ label: "Log helm in", text: logIn("helm registry") }];
    case "npm":
      return [
        { label: "Store the token", text: `npm config set ${npm}:_authToken=${token}` },
        { label: "Install from here", text: `npm config set registry=${protocol}${npm}` },
      ];
    case "pip":
      return [
        {
          label: "Install from here",
          text: `pip config set global.index-url ${protocol}//any:${token}@${host}/pypi/${group}/simple/`,
        },
        {
          label: "Publish",
          text: `twine upload --repository-url ${protocol}//${host}/pypi/${group}/legacy/ -u any -p ${token} dist/*`,
        },
      ];
    case "Maven":
      return [
        {
          label: "In ~/.m2/settings.xml, below servers",
          text: `<server>\n  <id>moorage</id>\n  <username>any</username>\n  <password>${token}</password>\n</server>`,
        },
        {
          label: "In pom.xml, below repositories",
          text: `<repository>\n  <id>moorage</id>\n  <url>${protocol}//${host}/maven/${group}/-/</url>\n</repository>`,
        },
      ];
    case "Kubernetes":
      return [
        {
          label: "Make the secret",
          text: `kubectl create secret docker-registry moorage --docker-server=${host} --docker-username=any --docker-password=${token}`,
        },
        { label: "In the pod's spec", text: `imagePullSecrets:\n  - name: moorage` },
      ];
    case "GitHub Actions":
      return [
        { label: "Store the token as a secret of the repository", text: `gh secret set ${SECRET} --body '${token}'` },
        {
          label: "A step of the job",
          text: `- run: ${inJob}\n  env:\n    ${SECRET}: \${{ secrets.${SECRET} }}`,
        },
      ];
    case "GitLab CI":
      return [
        { label: `The value of a masked variable ${SECRET}: Settings, CI/CD, Variables`, text: token },
        { label: "In .gitlab-ci.yml", text: `before_script:\n  - ${inJob}` },
      ];
    case "moorage":
      return [
        {
          label: "For the command, in this shell",
          text: `export MOORAGE_URL=${protocol}//${host} ${SECRET}=${token}`,
        },
      ];
    case "Token only":
      return [{ label: "The password, with any user name", text: token }];
  }
}
