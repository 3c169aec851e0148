import { type Ecosystem, EcosystemSchema } from "@moorage/api/messages";

/** The number of toys. A real ecosystem has it in the contract; here it is added to what this process knows of that. */
export const TOY = 77 as Ecosystem;

const [first] = EcosystemSchema.values;
if (first !== undefined && EcosystemSchema.value[TOY] === undefined) {
  const value = { ...first, number: TOY, name: "ECOSYSTEM_TOY", localName: "TOY" };
  EcosystemSchema.value[TOY] = value;
  EcosystemSchema.values.push(value);
}
