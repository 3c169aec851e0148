import { comparableArchitecture } from "@moorage/kernel/lib/purls";
import { isAboutImage, isImageType, isOwnComponent, purlType, type Subject } from "../advisories/subject.ts";
import { isAtLeast } from "../matching/versions.ts";
import type { Held, HeldImage, HeldPackage } from "./holdings.ts";

/** What images have of a component: nothing, a version before the fixed one, or none but that and later ones. */
export type ComponentState = "absent" | "affected" | "fixed";

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
    this.packages = name === "" ? undefined : held.named(purlType(kind), name);
    this.#architecture = comparableArchitecture(subject.artifact_architecture);
    this.#location = subject.component_location.replace(/^\/+/, "");
  }

  /**
   * What the advisory is about in the images of a repo. `path`: the image's path, as `acme/app`. Undefined when it is
   * about another image, or about packages that none of the images that were read holds.
   */
  static of(held: Held, subject: Subject, path: string): Component | undefined {
    const { artifact_name: artifact, artifact_type: kind, component_name: component } = subject;
    const isImage = isAboutImage(subject, path);
    if (!isImage && (isImageType(kind) || !isOwnComponent(subject))) return undefined;
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
    return this.#architecture === "" || this.#architecture === comparableArchitecture(architecture);
  }
}
