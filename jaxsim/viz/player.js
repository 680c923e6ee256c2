// Plays a motion of rigid parts, or shows the poses that it is sent. Everything it needs stands in the page.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);

function decode(text, Type) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Type(bytes.buffer);
}

function makeRenderer() {
  const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.setPixelRatio(window.devicePixelRatio);
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  document.body.prepend(renderer.domElement);
  return renderer;
}

function makePart(part) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(decode(part.vertices, Float32Array), 3));
  geometry.setIndex(new THREE.BufferAttribute(decode(part.faces, Uint32Array), 1));
  geometry.computeVertexNormals();
  const [red, green, blue, opacity] = part.rgba;
  const color = new THREE.Color().setRGB(red, green, blue, "srgb");
  const look = { color, opacity, transparent: opacity < 1, roughness: 0.6, metalness: 0.1, side: THREE.DoubleSide };
  const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial(look));
  mesh.castShadow = true;
  mesh.receiveShadow = true;
  return mesh;
}

function makeScene() {
  const scene = new THREE.Scene();
  scene.background = new THREE.Color("#eef1f5");
  scene.add(new THREE.HemisphereLight("#ffffff", "#b8bcc4", 1.6));
  const reach = data.radius, center = new THREE.Vector3(...data.center);
  const sun = new THREE.DirectionalLight("#ffffff", 2.2);
  sun.position.set(center.x + reach, center.y - 2 * reach, center.z + 4 * reach);
  sun.target.position.copy(center);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.normalBias = 0.01 * reach;
  const box = { left: -2 * reach, right: 2 * reach, top: 2 * reach, bottom: -2 * reach, near: 0.1 * reach, far: 10 * reach };
  Object.assign(sun.shadow.camera, box);
  scene.add(sun, sun.target);
  const cell = 10 ** Math.round(Math.log10(reach / 4)), count = 2 * Math.ceil((2.5 * reach) / cell), side = count * cell;
  const grid = new THREE.GridHelper(side, count, "#9aa3b0", "#cdd3db");
  grid.rotation.x = Math.PI / 2;
  grid.position.set(Math.round(center.x / cell) * cell, Math.round(center.y / cell) * cell, data.ground);
  const floor = new THREE.Mesh(new THREE.PlaneGeometry(side, side), new THREE.ShadowMaterial({ opacity: 0.18, depthWrite: false }));
  floor.position.copy(grid.position);
  floor.position.z -= 1e-3 * reach;
  floor.receiveShadow = true;
  scene.add(grid, floor);
  return scene;
}

function start() {
  const renderer = makeRenderer(), scene = makeScene();
  const bodies = Array.from({ length: data.bodies }, () => new THREE.Group());
  bodies.forEach((body) => scene.add(body));
  data.parts.forEach((part) => bodies[part.body].add(makePart(part)));

  const camera = new THREE.PerspectiveCamera(40, 1, 0.01 * data.radius, 200 * data.radius);
  const center = new THREE.Vector3(...data.center);
  camera.up.set(0, 0, 1);
  camera.position.set(...data.view).multiplyScalar(3.3 * data.radius).add(center);
  const controls = new THREE.OrbitControls(camera, renderer.domElement);
  controls.target.copy(center);

  const t = decode(data.t, Float32Array), poses = decode(data.poses, Float32Array);
  const end = t[t.length - 1], turn = new THREE.Quaternion();
  const player = { ready: false, time: t[0], playing: t.length > 1, frames: t.length, end, bodies, showPoses };
  window.player = player;

  function showPoses(values, first = 0, next = first, share = 0) {
    bodies.forEach((body, i) => {
      const a = first + 7 * i, b = next + 7 * i;
      const mix = (k) => (1 - share) * values[a + k] + share * values[b + k];
      body.position.set(mix(0), mix(1), mix(2));
      body.quaternion.set(values[a + 4], values[a + 5], values[a + 6], values[a + 3]);
      body.quaternion.slerp(turn.set(values[b + 4], values[b + 5], values[b + 6], values[b + 3]), share);
    });
  }

  function showTime(time) {
    player.time = Math.min(Math.max(time, t[0]), end);
    let low = 0, high = t.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (t[middle] <= player.time) low = middle; else high = middle;
    }
    const span = t[high] - t[low], size = 7 * data.bodies;
    showPoses(poses, low * size, high * size, span > 0 ? (player.time - t[low]) / span : 0);
    element("scrub").value = player.time;
    element("time").textContent = `${player.time.toFixed(2)} / ${end.toFixed(2)} s`;
  }

  function play(on) {
    player.playing = on;
    element("play").textContent = on ? "Pause" : "Play";
    if (on && player.time >= end) showTime(t[0]);
  }

  Object.assign(element("scrub"), { min: t[0], max: end });
  element("scrub").addEventListener("input", (event) => { play(false); showTime(Number(event.target.value)); });
  element("play").addEventListener("click", () => play(!player.playing));
  document.addEventListener("keydown", (event) => {
    if (event.code === "Space") { event.preventDefault(); play(!player.playing); }
  });
  window.addEventListener("message", (event) => {
    if (event.data && event.data.jaxsim) showPoses(event.data.jaxsim);
  });
  if (data.live) element("bar").style.display = "none";

  function fit() {
    renderer.setSize(window.innerWidth, window.innerHeight);
    camera.aspect = window.innerWidth / window.innerHeight;
    camera.updateProjectionMatrix();
  }
  window.addEventListener("resize", fit);
  fit();

  let last = performance.now();
  function frame(now) {
    const passed = ((now - last) / 1000) * Number(element("speed").value);
    last = now;
    if (player.playing && !data.live) {
      const next = player.time + passed;
      showTime(player.time >= end ? t[0] : next);
    }
    controls.update();
    renderer.render(scene, camera);
    player.ready = true;
    requestAnimationFrame(frame);
  }
  showTime(t[0]);
  play(t.length > 1);
  requestAnimationFrame(frame);
}

try {
  start();
} catch (error) {
  document.body.insertAdjacentHTML("beforeend", '<div id="failure">This browser cannot draw the scene (no WebGL).</div>');
  throw error;
}
