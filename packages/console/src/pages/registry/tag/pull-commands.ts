/** The programs that a pull command is written for. */
export const TOOLS = ["docker", "podman", "skopeo", "crane", "helm", "kubernetes"] as const;
export type Tool = (typeof TOOLS)[number];

const LONGEST_TIMED_TAG = 106;

/** What a pull command names. */
export interface Pulled {
  /** The registry's host, with its port if it has one. */
  host: string;
  /** Such as `acme/app`. */
  name: string;
  /** `@sha256:…`, or a tag with its colon. */
  reference: string;
}

/** The command, or the line of a manifest, by which the tool pulls the image. */
export function pullCommand(tool: Tool, { host, name, reference }: Pulled): string {
  const image = `${host}/${name}${reference}`;
  switch (tool) {
    case "docker":
    case "podman":
      return `${tool} pull ${image}`;
    case "skopeo":
      return `skopeo copy docker://${image} oci:${name.slice(name.lastIndexOf("/") + 1)}`;
    case "crane":
      return `crane pull ${image} ${name.slice(name.lastIndexOf("/") + 1)}.tar`;
    case "helm":
      return reference.startsWith("@")
        ? `helm pull oci://${image}`
        : `helm pull oci://${host}/${name} --version ${reference.slice(1)}`;
    case "kubernetes":
      return `image: ${image}`;
  }
}

/** The command by which the tool pushes an image under this name; docker's where the tool pushes nothing itself. */
export function pushCommand(tool: Tool, { host, name, reference }: Pulled): string {
  const image = `${host}/${name}${reference}`;
  const last = name.slice(name.lastIndexOf("/") + 1);
  switch (tool) {
    case "podman":
      return `podman push ${image}`;
    case "skopeo":
      return `skopeo copy oci:${last} docker://${image}`;
    case "crane":
      return `crane push ${last}.tar ${image}`;
    case "helm":
      // Helm takes the name and the version out of the chart.
      return `helm push ${last}.tgz oci://${host}/${name.slice(0, name.lastIndexOf("/"))}`;
    default:
      return `docker push ${image}`;
  }
}

/**
 * The tag as of a moment, such as `1.0--at--20260704T093015Z`: what it pointed to at the end of that second. Undefined
 * for a tag that is too long for it, and for a second that has not ended. Source: docs/time-travel.md.
 */
export function timedTag(tag: string, timeMs: number, nowMs: number): string | undefined {
  if (tag.length > LONGEST_TIMED_TAG || Math.floor(timeMs / 1_000) >= Math.floor(nowMs / 1_000)) return undefined;
  const second = new Date(timeMs).toISOString().replace(/\.\d+Z$/, "Z");
  return `${tag}--at--${second.replaceAll(/[-:]/g, "")}`;
}
