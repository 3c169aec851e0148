import { License as Licences } from "@cyclonedx/cyclonedx-library/Contrib";
import { ComponentType } from "@cyclonedx/cyclonedx-library/Enums";
import { Bom, Component, Property } from "@cyclonedx/cyclonedx-library/Models";
import { JSON as Json, JsonSerializer } from "@cyclonedx/cyclonedx-library/Serialize";
import { Spec1dot6 } from "@cyclonedx/cyclonedx-library/Spec";
import parseExpression from "spdx-expression-parse";
import type { HeldPackage, Holdings } from "../images/holdings.ts";

/** The image that a document is about. */
export interface Subject {
  /** `<organization>/<image>` */
  name: string;
  digest: string;
}

const licences = new Licences.Factories.LicenseFactory((text: string) => void parseExpression(text));

/** The CycloneDX 1.6 document. It is the same at each reading. */
export function cycloneDxOf({ name, digest }: Subject, { packages, readMs, sources }: Holdings): string {
  const bom = new Bom();
  bom.metadata.timestamp = new Date(readMs);
  bom.metadata.component = new Component(ComponentType.Container, name, { version: digest, bomRef: digest });
  for (const each of packages) bom.components.add(componentOf(each, sources.length > 1));
  const serializer = new JsonSerializer(new Json.Normalize.Factory(Spec1dot6));
  return serializer.serialize(bom, { sortLists: false });
}

/** `isSaidBy`: several sources say what the image holds, so each component names its own. */
function componentOf(each: HeldPackage, isSaidBy: boolean): Component {
  const component = new Component(ComponentType.Library, each.name, {
    version: each.version,
    purl: each.purl,
    bomRef: each.id,
  });
  if (each.licence !== "") component.licenses.add(licences.makeFromString(each.licence));
  const add = (name: string, value: string): void => void component.properties.add(new Property(name, value));
  if (each.sourceName !== each.name || each.sourceVersion !== each.version)
    add("moorage:source", `${each.sourceName}@${each.sourceVersion}`);
  for (const { layer, path } of each.places) add("moorage:place", `${layer} ${path}`);
  for (const platform of each.platforms) add("moorage:platform", platform);
  if (isSaidBy) for (const source of each.sources) add("moorage:said-by", source);
  for (const { source, versions } of each.contradictions)
    for (const version of versions) add("moorage:contradicted-by", `${source} ${version}`);
  return component;
}
