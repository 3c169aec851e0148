import type { Row } from "../../store/index.ts";
import { PURL_TYPES } from "../exports/products.ts";
import { isAtLeast } from "../findings/versions.ts";
import type { Held, HeldImage, HeldPackage } from "./held.ts";

/** What an advisory is about. */
type Subject = Pick<
  Row<"advisories">,
  | "artifact_name"
  | "artifact_type"
  | "artifact_architecture"
  | "component_name"
  | "component_type"
  | "component_location"
>;

/** What images have of a component: nothing, a version before the fixed one, or none but that and later ones. */
export type ComponentState = "absent" | "affected" | "fixed";

/** As machines call themselves, and as images call them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", aarch64: "arm64" };

/** The component of an advisory, among the packages that were read. What it is about is as findings have it. */
export class Component {
  /** The packages that are the component. Undefined when the advisory is about an image as a whole. */
  readonly packages: ReadonlySet<HeldPackage> | undefined;
  readonly #held: Held;
  readonly #name: string;
  readonly #architecture: string;
  readonly #location: string;

  private constructor(held: Held, subject: Subject, { name, kind }: { name: string; kind: string }) {
    this.#held = held;
    this.#name = name;
    this.packages = name === "" ? undefined : held.named(typeOf(kind), name);
    const architecture = subject.artifact_architecture.toLowerCase();
    this.#architecture = ARCHITECTURES[architecture] ?? architecture;
    this.#location = subject.component_location.replace(/^\/+/, "");
  }

  /**
   * What the advisory is about in the images of a repo. `path`: the image's path, as `acme/app`. Undefined when it is
   * about another image, or about packages that none of the images that were read holds.
   */
  static of(held: Held, subject: Subject, path: string): Component | undefined {
    const { artifact_name: artifact, artifact_type: kind, component_name: component } = subject;
    const isImage = kind.toUpperCase() === "OCI_IMAGE" || (kind === "" && artifact === path);
    // Which package owns what lies in it is not known, so one about another component of a package says nothing here.
    if (isImage ? artifact !== path : component !== "" && component !== artifact) return undefined;
    const of = isImage ? { name: component, kind: subject.component_type } : { name: artifact, kind };
    const found = new Component(held, subject, of);
    return found.packages?.size === 0 ? undefined : found;
  }

  /** Whether one of the images has the component. */
  isIn(images: readonly HeldImage[]): boolean {
    if (this.packages === undefined) return images.some((image) => this.#isFor(image));
    return images.some((image) => !this.#packagesIn(image).next().done);
  }

  /** What the images together have of it. */
  stateIn(images: readonly HeldImage[], fixedVersion: string): ComponentState {
    let state: ComponentState = "absent";
    for (const image of images)
      for (const held of this.#packagesIn(image)) {
        if (!isAtLeast(held, this.#name, fixedVersion)) return "affected";
        state = "fixed";
      }
    return state;
  }

  *#packagesIn(image: HeldImage): Generator<HeldPackage> {
    const ids = this.#held.images.get(image.key);
    if (ids === undefined || !this.#isFor(image)) return;
    for (const held of this.packages ?? [])
      if (
        ids.has(held.id) &&
        (this.#location === "" ||
          this.#held.places.get(held.id)?.some((at) => at.image === image.key && at.path === this.#location) === true)
      )
        yield held;
  }

  #isFor({ architecture }: HeldImage): boolean {
    return this.#architecture === "" || this.#architecture === architecture;
  }
}

/** The type of purls of a kind of packages; undefined for any. An unknown kind is another one. */
const typeOf = (kind: string): string | undefined =>
  kind === "" ? undefined : (PURL_TYPES[kind.toLowerCase()] ?? kind.toLowerCase());
