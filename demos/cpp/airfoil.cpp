// SPDX-License-Identifier: BSD-3-Clause
// Steady flow around an aerofoil, the loops of demos/airfoil.py in C++; with AIRFOIL_CHAIN those of
// its chain, in which time steps are found where cells are visited anyway:
//   airfoil MESH.dat BACKEND THREADS ITERATIONS Q.bin
#include <airfoil.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

namespace {

/// A mesh in OP2's text format: four sizes, then one line an entity.
struct Mesh {
  int n_nodes = 0, n_cells = 0, n_edges = 0, n_bedges = 0;
  op2::Array<double> x;  // a std::vector in large pages, as NumPy's arrays
  op2::Array<int> cell2node, edge2node, edge2cell, bedge2node, bedge2cell, bound;

  explicit Mesh(const std::string& path) {
    std::ifstream file(path);
    file >> n_nodes >> n_cells >> n_edges >> n_bedges;
    for (int i = 0; i < 2 * n_nodes; ++i) file >> x.emplace_back();
    for (int i = 0; i < 4 * n_cells; ++i) file >> cell2node.emplace_back();
    for (int i = 0; i < 4 * n_edges; ++i)
      file >> (i % 4 < 2 ? edge2node : edge2cell).emplace_back();
    for (int i = 0; i < 4 * n_bedges; ++i) {
      file >> (i % 4 < 2 ? bedge2node : i % 4 < 3 ? bedge2cell : bound).emplace_back();
    }
    if (!file) throw op2::UsageError(path + ": this is no mesh");
  }
};

/// The undisturbed flow at Mach 0.4.
op2::Array<double> free_stream() {
  const double gam = 1.4F;
  const double speed = std::sqrt(gam) * double{0.4F};
  return {1.0, speed, 0.0, 1.0 / (gam - 1.0) + 0.5 * (speed * speed)};
}

int run(const Mesh& mesh, int n_iterations, const std::string& output) {
  const op2::Set nodes(mesh.n_nodes, "nodes"), cells(mesh.n_cells, "cells");
  const op2::Set edges(mesh.n_edges, "edges"), bedges(mesh.n_bedges, "bedges");
  const op2::Map<4> c2n(cells, nodes, mesh.cell2node, "cell2node");
  const op2::Map<2> e2n(edges, nodes, mesh.edge2node, "edge2node");
  const op2::Map<2> e2c(edges, cells, mesh.edge2cell, "edge2cell");
  const op2::Map<2> b2n(bedges, nodes, mesh.bedge2node, "bedge2node");
  const op2::Map<1> b2c(bedges, cells, mesh.bedge2cell, "bedge2cell");

  const auto n = static_cast<std::size_t>(mesh.n_cells);
  op2::Array<double> x_values = mesh.x, far = free_stream(), change(1);
  op2::Array<double> q_values, old_values(4 * n), adt_values(n), res_values(4 * n);
  op2::Array<int> bound_values = mesh.bound;
  for (std::size_t i = 0; i < 4 * n; ++i) q_values.push_back(far[i % 4]);
  const op2::Dat<double, 2> x(nodes, x_values, "x");
  const op2::Dat<double, 4> q(cells, q_values, "q"), qold(cells, old_values, "qold");
  const op2::Dat<double> adt(cells, adt_values, "adt");
  const op2::Dat<double, 4> res(cells, res_values, "res");
  const op2::Dat<int> bound(bedges, bound_values, "bound");
  const op2::Global<double, 4> qinf(far, "qinf");
  const op2::Global<double> rms(change, "rms");

#ifdef AIRFOIL_CHAIN
  auto begin_step = airfoil::save_soln_adt_calc(cells, q, qold, x, c2n, adt);
  auto first_update = airfoil::update_adt_calc(cells, qold, q, res, adt, rms, x, c2n);
#else
  auto save_soln = airfoil::save_soln(cells, q, qold);
  auto adt_calc = airfoil::adt_calc(cells, x, c2n, q, adt);
#endif
  auto res_calc = airfoil::res_calc(edges, x, e2n, q, e2c, adt, res);
  auto bres_calc = airfoil::bres_calc(bedges, x, b2n, q, b2c, adt, res, bound, qinf);
  auto update = airfoil::update(cells, qold, q, res, adt, rms);
  const auto iterate = [&] {
#ifdef AIRFOIL_CHAIN
    begin_step();
#else
    auto& first_update = update;
    save_soln();
#endif
    for (int stage = 0; stage < 2; ++stage) {
      rms.zero();
#ifndef AIRFOIL_CHAIN
      adt_calc();
#endif
      res_calc();
      bres_calc();
      (stage == 0 ? first_update : update)();
    }
  };

  iterate();  // makes the plans, too
  op2::finish();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 1; i < n_iterations; ++i) iterate();
  op2::finish();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("rms %.17g\n", std::sqrt(rms.read()[0] / mesh.n_cells));
  std::printf("seconds %.6f\n", seconds.count());
  std::ofstream file(output, std::ios::binary);
  file.write(reinterpret_cast<const char*>(q.read().data()),
             static_cast<std::streamsize>(q_values.size() * sizeof(double)));
  return file ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: airfoil MESH.dat sequential|openmp|opencl|cuda THREADS ITERATIONS Q.bin\n";
    return 2;
  }
  try {
    op2::init({argv[2], std::stoi(argv[3])});
    return run(Mesh(argv[1]), std::stoi(argv[4]), argv[5]);
  } catch (const op2::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
