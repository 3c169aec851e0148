import { call } from "../../../api/call.ts";
import { createScanner, type Scanner, type ScannerInput, updateScanner } from "../../../api/gen/vulnerabilities.ts";
import type { FieldSpec, FormSpec, Values } from "../../access/parts/resource.ts";

/** Has the images of a group scanned by an adapter. */
export function newScannerForm(parent: string): FormSpec<Scanner> {
  return {
    title: "New scanner",
    action: "Create",
    description: "The server checks right away what it can do. It scans the images of the group and all groups below.",
    fields: fieldsOf(),
    send: (values) => call(createScanner, { parent, scanner: inputOf(values) }),
  };
}

/** Changes how a scanner is asked. A secret that is not typed again stays. */
export function editScannerForm(scanner: Scanner): FormSpec<Scanner> {
  return {
    title: "Edit scanner",
    action: "Save",
    fields: [
      ...fieldsOf(scanner),
      {
        name: "disabled",
        label: "Off: nothing is scanned; earlier reports stay",
        kind: "check",
        initial: scanner.disabled ? "true" : "",
      },
    ],
    send: (values) => {
      const input = inputOf(values);
      const mask = ["description", "url", "disabled", "onRequestOnly"];
      return call(updateScanner, {
        scanner: { uid: scanner.uid, ...input, disabled: values["disabled"] === "true" },
        updateMask: [...mask, ...(input.authorization === undefined ? [] : ["authorization"])].join(","),
      });
    },
  };
}

function fieldsOf(scanner?: Scanner): FieldSpec[] {
  return [
    ...(scanner === undefined ? [{ name: "name", label: "Name", help: "Such as trivy" }] : []),
    {
      name: "url",
      label: "Address of its adapter",
      initial: scanner?.url ?? "",
      help: "An adapter with the pluggable scanner API, such as https://trivy-adapter.example.com",
    },
    {
      name: "authorization",
      label: "Authorization",
      isSecret: true,
      help: scanner === undefined ? "Such as Bearer and a token; never shown" : "Leave empty to keep the stored one",
    },
    {
      name: "onRequestOnly",
      label: "Scan only on request",
      kind: "check",
      initial: scanner?.onRequestOnly ? "true" : "",
    },
    { name: "description", label: "Description", initial: scanner?.description ?? "" },
  ];
}

function inputOf(values: Values): ScannerInput {
  const { name, url = "", authorization = "", description = "" } = values;
  return {
    ...(name !== undefined && { name }),
    url,
    description,
    ...(authorization !== "" && { authorization }),
    onRequestOnly: values["onRequestOnly"] === "true",
  };
}
