import { expect, test } from "vitest";
import { describeHosts, firstHosts, MOST_HOSTS } from "./first_hosts";

const pod = Array.from({ length: 1024 }, (_, index) => `h${index}`);

test("few hosts are all shown", () => {
  expect(firstHosts(pod.slice(0, MOST_HOSTS), "h3")).toEqual(pod.slice(0, MOST_HOSTS));
  expect(describeHosts(MOST_HOSTS, MOST_HOSTS)).toBe("the files of 16 hosts");
  expect(describeHosts(1, 1)).toBe("the file");
});

test("of many the first are shown, with the one that the address refers to", () => {
  const first = pod.slice(0, MOST_HOSTS);
  expect(firstHosts(pod)).toEqual(first);
  expect(firstHosts(pod, "h3")).toEqual(first);
  expect(firstHosts(pod, "nobody")).toEqual(first);
  expect(firstHosts(pod, "h700")).toEqual([...pod.slice(0, MOST_HOSTS - 1), "h700"]);
  expect(describeHosts(16, 1024)).toBe("the files of 16 of 1,024 hosts: choose others above");
});
